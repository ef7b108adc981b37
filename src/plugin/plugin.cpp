// Registers the autoscheduler when the shared library is loaded, and turns our exceptions into
// Halide's kind of errors, so that a host that catches those lives on.
#include <exception>
#include <string>

#include "Halide.h"

#include "plugin/autoscheduler.h"
#include "support/error.h"
#include "support/log.h"

namespace anderson2021 {

namespace {

enum class Outcome { Done, UserMistake, InternalFault };

void autoschedule(const Halide::Pipeline &pipeline,
                  const Halide::Target &target,
                  const Halide::AutoschedulerParams &parameters,
                  Halide::AutoSchedulerResults *results) {
    Outcome outcome = Outcome::Done;
    std::string message;
    try {
        run_autoscheduler(pipeline, target, parameters, process_environment(), results);
    } catch (const UserError &e) {
        outcome = Outcome::UserMistake;
        message = e.what();
    } catch (const Halide::Error &) {
        throw;
    } catch (const std::exception &e) {
        outcome = Outcome::InternalFault;
        message = e.what();
    }
    // Halide refuses to throw while another exception is being handled: report out here.
    if (outcome == Outcome::UserMistake) {
        Halide::Internal::throw_error(
            Halide::CompileError("Error: Anderson2021: " + message + "\n"));
    }
    if (outcome == Outcome::InternalFault) {
        Halide::Internal::throw_error(
            Halide::InternalError("Internal error in Anderson2021: " + message + "\n"));
    }
}

struct Registration {
    Registration() {
        try {
            Halide::Pipeline::add_autoscheduler("Anderson2021", autoschedule);
        } catch (const Halide::Error &error) {
            // An exception that leaves here would end the process that loads this library.
            write_log(std::string("Warning: this plugin for Anderson2021 is not used: ") +
                      error.what());
        }
    }
};

const Registration registration;

}  // namespace

}  // namespace anderson2021
