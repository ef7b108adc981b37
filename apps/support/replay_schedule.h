// Lets a generator be compiled together with a schedule that was emitted earlier.
//
// The emitted `<function>.schedule.h` defines `apply_schedule_<function>`. Compile a generator
// with -DAPP_SCHEDULE_HEADER='"path/to/it"' and APP_REPLAY_SCHEDULE applies that schedule and is
// true; without the definition it does nothing and is false, so that the generator goes on to
// its hand-written schedule. Only for use inside a member of a Halide Generator.
#ifndef APPS_SUPPORT_REPLAY_SCHEDULE_H
#define APPS_SUPPORT_REPLAY_SCHEDULE_H

#ifdef APP_SCHEDULE_HEADER
#include APP_SCHEDULE_HEADER
#define APP_REPLAY_SCHEDULE(apply) ((apply)(get_pipeline(), get_target()), true)
#else
#define APP_REPLAY_SCHEDULE(apply) false
#endif

#endif
