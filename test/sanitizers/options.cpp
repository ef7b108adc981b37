// What the sanitizers' runtimes do in the test programs, however these are started. The runtimes
// ask for it by these names before main(); ASAN_OPTIONS and the like add to it.
//
// Suppressions are for code that is not ours, each with its reason in the file that lists it.

// The compiler's macros, as a program has the runtime of one of them only.
#if defined(__SANITIZE_THREAD__)
extern "C" __attribute__((visibility("default"))) const char *__tsan_default_options() {
    return "suppressions=" ANDERSON_SOURCE_DIR "/test/sanitizers/tsan.supp:"
           "second_deadlock_stack=1:history_size=4";
}
#elif defined(__SANITIZE_ADDRESS__)
extern "C" __attribute__((visibility("default"))) const char *__asan_default_options() {
    return "detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1";
}
extern "C" __attribute__((visibility("default"))) const char *__ubsan_default_options() {
    return "print_stacktrace=1";
}
extern "C" __attribute__((visibility("default"))) const char *__lsan_default_options() {
    return "suppressions=" ANDERSON_SOURCE_DIR "/test/sanitizers/lsan.supp:print_suppressions=0";
}
#endif
