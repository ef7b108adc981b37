#include "frontend/constant_value.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

namespace anderson2021 {

namespace {

using Halide::Expr;
using Halide::Type;
namespace Ir = Halide::Internal;

// Integers of any type as 64 bits, floats as double; the type of the expression says which.
struct Number {
    int64_t integer = 0;
    double real = 0;
};

using Value = std::optional<Number>;

// Wide enough for the product of two 64-bit integers.
using Wide = __int128;

Number real(double value, const Type &type) {
    return {0, type.bits() == 32 ? static_cast<double>(static_cast<float>(value)) : value};
}

// The bits of `value` that an integer of the type keeps.
int64_t wrapped(Wide value, const Type &type) {
    const auto bits = static_cast<uint64_t>(value);
    if (type.bits() >= 64) {
        return static_cast<int64_t>(bits);
    }
    const uint64_t mask = (uint64_t{1} << type.bits()) - 1;
    const bool negative = type.is_int() && ((bits >> (type.bits() - 1)) & 1) != 0;
    return static_cast<int64_t>(negative ? (bits | ~mask) : (bits & mask));
}

Number integer(Wide value, const Type &type) {
    if (type.is_int() && type.bits() >= 32) {
        const Wide most = (Wide{1} << (type.bits() - 1)) - 1;
        value = value > most ? most : value < -most - 1 ? -most - 1 : value;
        return {static_cast<int64_t>(value), 0};
    }
    return {wrapped(value, type), 0};
}

// Conversion from a float: towards zero, to the nearest value of the type.
Number truncated(double value, const Type &type) {
    if (std::isnan(value)) {
        return {0, 0};
    }
    const int magnitude_bits = std::min(type.bits() - (type.is_int() ? 1 : 0), 63);
    const double most = std::ldexp(1.0, magnitude_bits);
    if (value >= most) {
        return {std::numeric_limits<int64_t>::max() >> (63 - magnitude_bits), 0};
    }
    if (type.is_uint() && value <= 0) {
        return {0, 0};
    }
    if (value <= -most) {
        return {-(std::numeric_limits<int64_t>::max() >> (63 - magnitude_bits)) - 1, 0};
    }
    return {static_cast<int64_t>(value), 0};
}

Wide quotient(Wide a, Wide b) {
    if (b == 0) {
        return 0;
    }
    const Wide truncated = a / b;
    const Wide rest = a - truncated * b;
    return rest >= 0 ? truncated : truncated - (b > 0 ? 1 : -1);
}

double floored_remainder(double a, double b) {
    return a - b * std::floor(a / b);
}

enum class Operation { Add, Sub, Mul, Div, Mod, Min, Max };

using Function = double (*)(double);

// Halide's names without the suffix for the type.
const std::map<std::string, Function> &functions() {
    static const std::map<std::string, Function> *const table =
        new std::map<std::string, Function>{{"exp", std::exp},
                                            {"log", std::log},
                                            {"sqrt", std::sqrt},
                                            {"floor", std::floor},
                                            {"ceil", std::ceil},
                                            {"trunc", std::trunc},
                                            {"sin", std::sin},
                                            {"cos", std::cos},
                                            {"tan", std::tan},
                                            {"asin", std::asin},
                                            {"acos", std::acos},
                                            {"atan", std::atan},
                                            {"sinh", std::sinh},
                                            {"cosh", std::cosh},
                                            {"tanh", std::tanh},
                                            {"asinh", std::asinh},
                                            {"acosh", std::acosh},
                                            {"atanh", std::atanh},
                                            {"round", std::rint}};
    return *table;
}

// Sees every shared part once.
class Evaluation {
public:
    Value value_of(const Expr &e) {
        const auto known = known_.find(e.get());
        if (known != known_.end()) {
            return known->second;
        }
        const Value value = compute(e);
        known_[e.get()] = value;
        return value;
    }

private:
    Value cast(const Ir::Cast &op) {
        const Value value = value_of(op.value);
        if (!value) {
            return {};
        }
        if (op.type.is_float()) {
            return real(op.value.type().is_float() ? value->real
                                                   : static_cast<double>(value->integer),
                        op.type);
        }
        return op.value.type().is_float() ? truncated(value->real, op.type)
                                          : Number{wrapped(value->integer, op.type), 0};
    }

    template<typename T>
    Value arithmetic(const T &op, Operation operation) {
        const Value left = value_of(op.a), right = value_of(op.b);
        if (!left || !right) {
            return {};
        }
        const double x = left->real, y = right->real;
        const Wide a = left->integer, b = right->integer;
        const bool is_real = op.type.is_float();
        switch (operation) {
        case Operation::Add:
            return is_real ? real(x + y, op.type) : integer(a + b, op.type);
        case Operation::Sub:
            return is_real ? real(x - y, op.type) : integer(a - b, op.type);
        case Operation::Mul:
            return is_real ? real(x * y, op.type) : integer(a * b, op.type);
        case Operation::Div:
            return is_real ? real(x / y, op.type) : integer(quotient(a, b), op.type);
        case Operation::Mod:
            return is_real ? real(floored_remainder(x, y), op.type)
                           : integer(b == 0 ? 0 : a - b * quotient(a, b), op.type);
        case Operation::Min:
            return is_real ? real(std::min(x, y), op.type) : integer(std::min(a, b), op.type);
        case Operation::Max:
            return is_real ? real(std::max(x, y), op.type) : integer(std::max(a, b), op.type);
        }
        return {};
    }

    // Less: -1, equal: 0, greater: 1; 2 if one is no number.
    template<typename T>
    std::optional<int> compare(const T &op) {
        const Value a = value_of(op.a), b = value_of(op.b);
        if (!a || !b) {
            return {};
        }
        if (op.a.type().is_float()) {
            return a->real < b->real ? -1 : a->real == b->real ? 0 : a->real > b->real ? 1 : 2;
        }
        return a->integer < b->integer ? -1 : a->integer == b->integer ? 0 : 1;
    }

    Value comparison(const Expr &e) {
        std::optional<int> order;
        const auto truth = [](bool value) { return Number{value ? 1 : 0, 0}; };
        if (const auto *op = e.as<Ir::EQ>()) {
            return (order = compare(*op)) ? Value(truth(*order == 0)) : Value();
        }
        if (const auto *op = e.as<Ir::NE>()) {
            return (order = compare(*op)) ? Value(truth(*order != 0)) : Value();
        }
        if (const auto *op = e.as<Ir::LT>()) {
            return (order = compare(*op)) ? Value(truth(*order == -1)) : Value();
        }
        if (const auto *op = e.as<Ir::LE>()) {
            return (order = compare(*op)) ? Value(truth(*order == -1 || *order == 0)) : Value();
        }
        if (const auto *op = e.as<Ir::GT>()) {
            return (order = compare(*op)) ? Value(truth(*order == 1)) : Value();
        }
        if (const auto *op = e.as<Ir::GE>()) {
            return (order = compare(*op)) ? Value(truth(*order == 1 || *order == 0)) : Value();
        }
        return {};
    }

    Value logic(const Expr &e) {
        if (const auto *op = e.as<Ir::Not>()) {
            const Value a = value_of(op->a);
            return a ? Value(Number{a->integer == 0 ? 1 : 0, 0}) : Value();
        }
        const auto *conjunction = e.as<Ir::And>();
        const auto *disjunction = e.as<Ir::Or>();
        if (conjunction == nullptr && disjunction == nullptr) {
            return {};
        }
        const Value a = value_of(conjunction != nullptr ? conjunction->a : disjunction->a);
        const Value b = value_of(conjunction != nullptr ? conjunction->b : disjunction->b);
        if (!a || !b) {
            return {};
        }
        const bool x = a->integer != 0, y = b->integer != 0;
        return Number{(conjunction != nullptr ? x && y : x || y) ? 1 : 0, 0};
    }

    Value call(const Ir::Call &op) {
        if (op.is_intrinsic(Ir::Call::abs)) {
            const Value a = value_of(op.args[0]);
            if (!a) {
                return {};
            }
            return op.type.is_float()
                       ? Number{0, std::fabs(a->real)}
                       : integer(a->integer < 0 ? -Wide{a->integer} : a->integer, op.type);
        }
        const size_t suffix = op.name.rfind("_f");
        if (!op.type.is_float() || suffix == std::string::npos) {
            return {};
        }
        const std::string name = op.name.substr(0, suffix);
        if (op.args.size() == 1) {
            const auto found = functions().find(name);
            const Value a = found != functions().end() ? value_of(op.args[0]) : Value();
            return a ? Value(real(found->second(a->real), op.type)) : Value();
        }
        if (op.args.size() != 2 || (name != "pow" && name != "atan2")) {
            return {};
        }
        const Value a = value_of(op.args[0]), b = value_of(op.args[1]);
        if (!a || !b) {
            return {};
        }
        return real(name == "pow" ? std::pow(a->real, b->real) : std::atan2(a->real, b->real),
                    op.type);
    }

    Value binary(const Expr &e) {
        if (const auto *op = e.as<Ir::Add>()) {
            return arithmetic(*op, Operation::Add);
        }
        if (const auto *op = e.as<Ir::Sub>()) {
            return arithmetic(*op, Operation::Sub);
        }
        if (const auto *op = e.as<Ir::Mul>()) {
            return arithmetic(*op, Operation::Mul);
        }
        if (const auto *op = e.as<Ir::Div>()) {
            return arithmetic(*op, Operation::Div);
        }
        if (const auto *op = e.as<Ir::Mod>()) {
            return arithmetic(*op, Operation::Mod);
        }
        if (const auto *op = e.as<Ir::Min>()) {
            return arithmetic(*op, Operation::Min);
        }
        if (const auto *op = e.as<Ir::Max>()) {
            return arithmetic(*op, Operation::Max);
        }
        const Value compared = comparison(e);
        return compared ? compared : logic(e);
    }

    Value compute(const Expr &e) {
        if (!e.type().is_scalar()) {
            return {};
        }
        if (const auto *op = e.as<Ir::IntImm>()) {
            return Number{op->value, 0};
        }
        if (const auto *op = e.as<Ir::UIntImm>()) {
            return Number{static_cast<int64_t>(op->value), 0};
        }
        if (const auto *op = e.as<Ir::FloatImm>()) {
            return Number{0, op->value};
        }
        if (const auto *op = e.as<Ir::Cast>()) {
            return cast(*op);
        }
        if (const auto *op = e.as<Ir::Select>()) {
            const Value condition = value_of(op->condition);
            return condition ? value_of(condition->integer != 0 ? op->true_value : op->false_value)
                             : Value();
        }
        if (const auto *op = e.as<Ir::Let>()) {
            return let(*op);
        }
        if (const auto *op = e.as<Ir::Variable>()) {
            const auto bound = lets_.find(op->name);
            return bound != lets_.end() ? bound->second : Value();
        }
        if (const auto *op = e.as<Ir::Call>()) {
            return call(*op);
        }
        return binary(e);
    }

    Value let(const Ir::Let &op) {
        const Value value = value_of(op.value);
        const auto shadowed = lets_.find(op.name);
        const std::optional<Value> before =
            shadowed != lets_.end() ? std::optional<Value>(shadowed->second) : std::nullopt;
        // Parts may be shared with what is outside or in another let of that name.
        const bool is_new = names_.insert(op.name).second;
        if (!is_new) {
            known_.clear();
        }
        lets_[op.name] = value;
        const Value result = value_of(op.body);
        if (!is_new) {
            known_.clear();
        }
        if (before) {
            lets_[op.name] = *before;
        } else {
            lets_.erase(op.name);
        }
        return result;
    }

    std::map<const Ir::IRNode *, Value> known_;
    // Bindings in scope, and names of all that ever were.
    std::map<std::string, Value> lets_;
    std::set<std::string> names_;
};

}  // namespace

std::optional<int64_t> constant_value(const Expr &e) {
    if (e.type().is_float()) {
        return {};
    }
    const Value value = Evaluation().value_of(e);
    return value ? std::optional<int64_t>(value->integer) : std::nullopt;
}

}  // namespace anderson2021
