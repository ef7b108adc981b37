// The readers of files and options that come from outside, each as a function of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace anderson2021 {
namespace test {

using Bytes = std::vector<uint8_t>;

struct ReaderTarget {
    const char *name;
    /// Reads the bytes. Aborts if the reader accepts what it must not: things that do not survive
    /// being written and read again, or values out of range. Errors of the reader's own are fine.
    void (*read)(const Bytes &bytes);
    /// Inputs that the reader accepts, for a start.
    std::vector<Bytes> (*seeds)();
    /// Makes checksums right, so that damage gets further; null: there are none.
    void (*repair)(Bytes &bytes);
};

const std::vector<ReaderTarget> &reader_targets();

}  // namespace test
}  // namespace anderson2021

/// The entry point of libFuzzer. The first byte chooses the reader, the rest is its input.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
