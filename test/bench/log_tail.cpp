#include "log_tail.h"

#include <iostream>
#include <streambuf>
#include <string>

namespace {

// Between one and two of these are kept.
constexpr size_t tail_bytes = size_t(4) << 20;

class TailBuffer : public std::streambuf {
public:
    std::string text() const { return older_ + newer_; }

    void clear() {
        older_.clear();
        newer_.clear();
    }

protected:
    int overflow(int c) override {
        if (c != EOF) {
            newer_.push_back(static_cast<char>(c));
            rotate();
        }
        return c;
    }

    std::streamsize xsputn(const char *text, std::streamsize size) override {
        newer_.append(text, static_cast<size_t>(size));
        rotate();
        return size;
    }

private:
    void rotate() {
        if (newer_.size() >= tail_bytes) {
            older_.swap(newer_);
            newer_.clear();
        }
    }

    std::string older_, newer_;
};

// Never destroyed: a plugin may still log while the process ends.
TailBuffer &tail = *new TailBuffer;
std::string &text = *new std::string;
std::streambuf *destination = nullptr;

}  // namespace

void log_tail_begin() {
    tail.clear();
    destination = std::cerr.rdbuf(&tail);
}

const char *log_tail_end() {
    std::cerr.rdbuf(destination);
    text = tail.text();
    return text.c_str();
}
