#include "bound_text.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

#include "support/error.h"

namespace anderson2021 {
namespace test {

namespace {

using Evaluate = std::function<int64_t(const Span *)>;

// The remainder is never negative, and nothing is an error, as in Halide.
int64_t euclidean_mod(int64_t a, int64_t b) {
    if (b == 0) {
        return 0;
    }
    const int64_t r = a % b;
    return r < 0 ? r + std::abs(b) : r;
}

int64_t euclidean_div(int64_t a, int64_t b) {
    return b == 0 ? 0 : (a - euclidean_mod(a, b)) / b;
}

class TextProgram : public BoundProgram {
public:
    TextProgram(std::string text, Evaluate evaluate)
        : text_(std::move(text)), evaluate_(std::move(evaluate)) {}
    int64_t evaluate(const Span *env) const override { return evaluate_(env); }
    std::string text() const override { return text_; }

private:
    std::string text_;
    Evaluate evaluate_;
};

/// Recursive descent: sum = product {+- product}, product = atom {*/% atom}.
class Parser {
public:
    Parser(const std::string &text, const std::map<std::string, SpanEnd> &variables)
        : text_(text), variables_(variables) {}

    Evaluate parse() {
        Evaluate e = sum();
        skip_blanks();
        check(at_ == text_.size(), "unexpected text");
        return e;
    }

private:
    Evaluate sum() {
        Evaluate left = product();
        for (char op = peek(); op == '+' || op == '-'; op = peek()) {
            at_++;
            left = combine(op, std::move(left), product());
        }
        return left;
    }

    Evaluate product() {
        Evaluate left = atom();
        for (char op = peek(); op == '*' || op == '/' || op == '%'; op = peek()) {
            at_++;
            left = combine(op, std::move(left), atom());
        }
        return left;
    }

    Evaluate atom() {
        const char c = peek();
        if (c == '(') {
            at_++;
            Evaluate e = sum();
            expect(')');
            return e;
        }
        if (c == '-' || std::isdigit(static_cast<unsigned char>(c)) != 0) {
            size_t used = 0;
            const int64_t value = std::stoll(text_.substr(at_), &used);
            at_ += used;
            return [value](const Span *) { return value; };
        }
        const std::string name = identifier();
        if (peek() == '(') {
            check(name == "min" || name == "max", "unknown function " + name);
            at_++;
            Evaluate left = sum();
            expect(',');
            Evaluate right = sum();
            expect(')');
            return combine(name == "min" ? '<' : '>', std::move(left), std::move(right));
        }
        const auto variable = variables_.find(name);
        check(variable != variables_.end(), "unknown variable " + name);
        const SpanEnd end = variable->second;
        return
            [end](const Span *env) { return end.is_max ? env[end.span].max : env[end.span].min; };
    }

    static Evaluate combine(char op, Evaluate left, Evaluate right) {
        return [op, a = std::move(left), b = std::move(right)](const Span *env) {
            const int64_t x = a(env);
            const int64_t y = b(env);
            switch (op) {
            case '+':
                return x + y;
            case '-':
                return x - y;
            case '*':
                return x * y;
            case '/':
                return euclidean_div(x, y);
            case '%':
                return euclidean_mod(x, y);
            case '<':
                return std::min(x, y);
            default:
                return std::max(x, y);
            }
        };
    }

    std::string identifier() {
        const size_t begin = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                      std::string("._$").find(text_[at_]) != std::string::npos)) {
            at_++;
        }
        check(at_ > begin, "expected an operand");
        return text_.substr(begin, at_ - begin);
    }

    void skip_blanks() {
        while (at_ < text_.size() && text_[at_] == ' ') {
            at_++;
        }
    }
    char peek() {
        skip_blanks();
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    void expect(char c) {
        check(peek() == c, std::string("expected ") + c);
        at_++;
    }
    void check(bool condition, const std::string &what) const {
        if (!condition) {
            throw UserError(what + " at position " + std::to_string(at_) + " of '" + text_ + "'");
        }
    }

    const std::string &text_;
    const std::map<std::string, SpanEnd> &variables_;
    size_t at_ = 0;
};

}  // namespace

BoundExpr parse_bound(const std::string &text, const std::map<std::string, SpanEnd> &variables) {
    BoundExpr e;
    e.kind = BoundExpr::Kind::Program;
    e.exact = false;
    e.program = std::make_shared<TextProgram>(text, Parser(text, variables).parse());
    return e;
}

}  // namespace test
}  // namespace anderson2021
