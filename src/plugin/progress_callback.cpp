#include "plugin/progress_callback.h"

#include <exception>
#include <mutex>
#include <string>

#include "anderson2021/progress.h"

namespace anderson2021 {

namespace {

// Held during calls. Recursive, since a callback may replace itself.
std::recursive_mutex callback_mutex;
anderson2021_progress_callback current_callback = nullptr;
void *current_user = nullptr;

}  // namespace

bool call_progress_callback(const SearchStatus &status) {
    // Waiting would be dangerous: the other thread may wait for something that this one holds, like
    // the lock of a Python interpreter.
    const std::unique_lock<std::recursive_mutex> lock(callback_mutex, std::try_to_lock);
    if (!lock.owns_lock() || current_callback == nullptr) {
        return true;
    }
    const anderson2021_progress progress{status.pass,
                                         status.passes,
                                         status.fraction,
                                         status.best_cost,
                                         status.states,
                                         status.elapsed_s,
                                         status.eta_s};
    int answer = ANDERSON2021_CONTINUE;
    std::string reason = "it returned ANDERSON2021_ABORT";
    try {
        answer = current_callback(&progress, current_user);
    } catch (const std::exception &e) {
        answer = ANDERSON2021_ABORT;
        reason = e.what();
    } catch (...) {
        answer = ANDERSON2021_ABORT;
        reason = "it threw an exception";
    }
    if (answer == ANDERSON2021_ABORT) {
        throw SearchGivenUp("The search was given up by the progress callback: " + reason);
    }
    return answer != ANDERSON2021_STOP;
}

}  // namespace anderson2021

extern "C" __attribute__((visibility("default"))) void
anderson2021_set_progress_callback(anderson2021_progress_callback callback, void *user) {
    const std::lock_guard<std::recursive_mutex> lock(anderson2021::callback_mutex);
    anderson2021::current_callback = callback;
    anderson2021::current_user = user;
}
