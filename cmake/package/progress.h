/* How far the searches of Anderson2021 are, for hosts that want to show it or to end a search.
   For C and C++.

     static int show(const anderson2021_progress *progress, void *user) {
         printf("%3.0f%%, best %g ms\n", 100 * progress->fraction, progress->best_cost_ms);
         return ANDERSON2021_CONTINUE;
     }

     void *plugin = dlopen(path, RTLD_NOW);  // the same path as for Halide::load_plugin()
     anderson2021_set_progress_callback_type set = (anderson2021_set_progress_callback_type)dlsym(
         plugin, "anderson2021_set_progress_callback");
     set(show, NULL);

   A callback counts for all searches of the process that start or report after it was set.
*/
#ifndef ANDERSON2021_PROGRESS_H
#define ANDERSON2021_PROGRESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct anderson2021_progress {
    /* Number of the pass, from 1, and of passes at most. The refinement of the result is the last
       one. `passes` becomes less when passes turn out to be superfluous. */
    int32_t pass;
    int32_t passes;
    /* Share of the work that is done, by a rough estimate: from 0 to 1, never less than before.
       1 is the last call of a run of the autoscheduler, which may consist of several searches. */
    double fraction;
    /* Predicted run time of the best complete schedule so far, ms; infinite before there is one. */
    double best_cost_ms;
    /* Schedules looked at so far, partial ones included. */
    int64_t states;
    /* Since the beginning of the search, and what is left by a rough estimate, seconds. eta_s is
       negative as long as there is no estimate. */
    double elapsed_s;
    double eta_s;
} anderson2021_progress;

/* What a callback returns; anything else counts as ANDERSON2021_CONTINUE. */
enum {
    ANDERSON2021_CONTINUE = 0,
    /* End the search. The best schedule so far is taken, or, if none is complete yet, the first one
       that can be completed without alternatives. */
    ANDERSON2021_STOP = 1,
    /* End the search in an error (Halide::CompileError); the pipeline stays as it was. */
    ANDERSON2021_ABORT = 2
};

/* Called by the thread that called the autoscheduler: at the beginning of a search, then at most
   ten times per second, and once at the end. Never by two threads at a time: a report that comes
   while another one is being dealt with is dropped. `progress` is valid during the call. An
   exception that leaves it counts as ANDERSON2021_ABORT; its text becomes part of the error. */
typedef int (*anderson2021_progress_callback)(const anderson2021_progress *progress, void *user);

/* Replaces the callback; NULL removes it. When this returns, the one before is not being called any
   more (unless it is the one that calls this function). From any thread. */
void anderson2021_set_progress_callback(anderson2021_progress_callback callback, void *user);

/* What dlsym() has to be cast to. */
typedef void (*anderson2021_set_progress_callback_type)(anderson2021_progress_callback, void *);

#ifdef __cplusplus
}
#endif

#endif
