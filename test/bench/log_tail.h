// Keeps what a plugin logs in memory, its last part only: some plugins write hundreds of megabytes
// to std::cerr in small pieces, and it is their search that shall be measured, not the terminal.
#pragma once

extern "C" {

/// From now on std::cerr goes to memory.
void log_tail_begin();

/// Gives std::cerr its destination back. Returns the last megabytes that were written, valid until
/// the next call of log_tail_begin().
const char *log_tail_end();
}
