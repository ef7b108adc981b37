# Turns a file into a C++ source that defines its bytes.
#   cmake -DINPUT=<file> -DOUTPUT=<source> -P EmbedBytes.cmake
file(READ "${INPUT}" hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n    " hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE "${OUTPUT}.tmp" "// Generated from baseline.weights by the build.
#include \"costmodel/builtin_weights.h\"

namespace anderson2021 {

const unsigned char kBuiltinWeightsBytes[] = {
    ${bytes}
};
const size_t kBuiltinWeightsSize = ${size};

}  // namespace anderson2021
")
file(RENAME "${OUTPUT}.tmp" "${OUTPUT}")
