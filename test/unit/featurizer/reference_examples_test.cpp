// Worked examples with the store sets of the reference plugin: numbers that the plugin printed, or
// that its algorithm gives for partial schedules.
#include <gtest/gtest.h>

#include "featurizer_fixtures.h"
#include "graph_fixtures.h"

namespace anderson2021 {
namespace test {
namespace {

// Not derived from real expressions in hand-made graphs.
const std::vector<int> kBranching{72};

FeatureValues join(FeatureValues a, const FeatureValues &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// The same value in columns first..last.
FeatureValues range(int first, int last, double value) {
    FeatureValues values;
    for (int i = first; i <= last; i++) {
        values.emplace_back(i, value);
    }
    return values;
}

/// out's block of 64 x 4 points, everything else of `inner` in it.
std::string mat_mul_text(const std::string &in_block, const std::string &in_thread) {
    return "out 16 256 (0, 0) t gpu_block\n" + in_block + " out 64 1 (0, 0) t gpu_thread\n" +
           in_thread +
           "  out 1 4 (0, 0) t gpu_serial\n"
           "   out 1v 1 (0, 0) * gpu_simd\n";
}

const char *const kProdInBlock = " prod 64 1 (0, 0) t gpu_thread\n"
                                 "  prod 1 4 (0, 0) t gpu_serial\n"
                                 "   prod 1v 1 (0, 0) * gpu_simd\n"
                                 " prod 1 64 1 (1, 0) t gpu_thread\n"
                                 "  prod 1024 1 4 (1, 0) t gpu_serial\n"
                                 "   prod 1 1v 1 (1, 0) * gpu_simd\n";

const char *const kProdInThread = "  prod 1 4 (0, 0) gpu_serial\n"
                                  "   prod 1v 1 (0, 0) * gpu_simd\n"
                                  "  prod 1024 1 4 (1, 0) gpu_serial\n"
                                  "   prod 1 1v 1 (1, 0) * gpu_simd\n";

FeatureValues mat_mul_out() {
    return {{0, 1},         {1, 1},        {2, 1048576},  {3, 1048576},  {4, 4},     {5, 1048576},
            {6, 1048576},   {7, 4},        {8, 4},        {9, 4},        {10, 4096}, {11, 1},
            {12, 4194304},  {13, 4194304}, {14, 4194304}, {15, 4096},    {16, 4096}, {17, 4096},
            {19, 4194304},  {22, 1024},    {25, 16},      {28, 4},       {31, 1024}, {34, 1024},
            {36, 1024},     {39, 256},     {42, 4},       {43, 1},       {44, 1024}, {45, 4},
            {46, 1024},     {47, 4196352}, {48, 4196352}, {49, 4196352}, {50, 4096}, {51, 2},
            {52, 0.0625},   {53, 1},       {54, 2},       {59, 32},      {61, 32},   {65, 1},
            {67, 1.0 / 48}, {69, 1},       {70, 1},       {71, 64},      {72, 2}};
}

FeatureValues mat_mul_prod_pure() {
    return {{0, 4096},    {1, 4096},  {2, 256},      {3, 256},   {4, 4},        {5, 1048576},
            {6, 1048576}, {7, 4},     {8, 4},        {9, 4},     {10, 1},       {11, 4096},
            {12, 1024},   {13, 1024}, {14, 4194304}, {15, 256},  {16, 256},     {17, 4096},
            {36, 1024},   {39, 256},  {46, 1024},    {47, 1024}, {48, 4196352}, {49, 4196352},
            {50, 4096},   {51, 2},    {52, 0.0625},  {53, 1},    {54, 2},       {61, 32},
            {71, 64},     {72, 2}};
}

FeatureValues mat_mul_prod_update() {
    return join(mat_mul_prod_pure(),
                {{2, 262144},
                 {3, 262144},
                 {4, 4096},
                 {5, 1073741824},
                 {6, 1073741824},
                 {7, 4096},
                 {9, 1},
                 {19, 8389632},
                 {22, 2052},
                 {25, 20480},
                 {28, 1028},
                 {31, 8389632},
                 {42, 8},
                 {43, 2},
                 {59, 16416},
                 {65, 295936.0 / 525312}});
}

TEST(ReferenceExamples, MatMulInBlock) {
    const FeaturizerFixture fixture(mat_mul_graph(), 80, true);
    const FeatureMatrix m = fixture.featurize(mat_mul_text(kProdInBlock, ""));
    EXPECT_EQ(compare_row(m.row(0), mat_mul_out()), "");
    EXPECT_EQ(compare_row(m.row(1), mat_mul_prod_pure()), "");
    EXPECT_EQ(compare_row(m.row(2), mat_mul_prod_update()), "");
    EXPECT_FALSE(m.has(3)) << "inputs have no features";
}

TEST(ReferenceExamples, MatMulInThread) {
    const FeaturizerFixture fixture(mat_mul_graph(), 80, true);
    const FeatureMatrix m = fixture.featurize(mat_mul_text("", kProdInThread));
    const FeatureValues sets{{48, 4194352}, {49, 4194352}};
    EXPECT_EQ(compare_row(m.row(0),
                          join(join(mat_mul_out(), sets),
                               {{31, 16}, {34, 32}, {46, 32}, {47, 4194352}, {66, 16}})),
              "");
    const FeatureValues prod = join(sets,
                                    {{0, 262144},
                                     {1, 262144},
                                     {11, 4096},
                                     {12, 16},
                                     {13, 16},
                                     {15, 4},
                                     {16, 4},
                                     {36, 16},
                                     {39, 4},
                                     {46, 32},
                                     {47, 16}});
    EXPECT_EQ(compare_row(m.row(1), join(join(mat_mul_prod_pure(), prod), {{2, 4}, {3, 4}})), "");
    EXPECT_EQ(compare_row(m.row(2),
                          join(join(mat_mul_prod_update(), prod),
                               {{2, 4096}, {3, 4096}, {19, 8388624}, {31, 8388624}})),
              "");
}

TEST(ReferenceExamples, MatMulPlusAScalar) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({1024, 1024});
    b.reads("prod", {at("x"), at("y")}).reads("s", {});
    b.func("s", {}).update({}, {});
    b.func("prod", {"x", "y"}).update({{"r", 0, 1023}}, {at("x"), at("y")});
    b.reads("A_im", {at("x"), at("r")}).reads("B_im", {at("r"), at("y")});
    b.func("B_im", {"_0", "_1"}).input();
    b.func("A_im", {"_0", "_1"}).input();
    const FeaturizerFixture fixture(b.build(), 80, true);
    const std::string scalar = "s (-1, 0) gpu_none\n s (-1, 0) * gpu_simd\n";
    const FeatureMatrix m = fixture.featurize(scalar + scalar + mat_mul_text(kProdInBlock, ""));
    const FeatureValues root = range(47, 49, 4196356);
    EXPECT_EQ(compare_row(m.row(fixture.stage("out")),
                          join(join(mat_mul_out(), root),
                               {{19, 4194308},
                                {22, 1025},
                                {25, 20},
                                {28, 5},
                                {31, 1028},
                                {42, 8},
                                {43, 2},
                                {44, 1028},
                                {45, 5},
                                {59, 34},
                                {65, 1032.0 / 1088}})),
              "");
    EXPECT_EQ(compare_row(m.row(fixture.stage("prod")),
                          join(mat_mul_prod_pure(), {{48, 4196356}, {49, 4196356}})),
              "");
    FeatureValues s = join(range(0, 11, 1), range(12, 17, 4));
    s = join(join(s, root), {{35, 1}, {36, 83.0 / 80}, {39, 83.0 / 80}, {50, 1}, {72, 1}});
    EXPECT_EQ(compare_row(m.row(fixture.stage("s")), s), "");
    EXPECT_EQ(compare_row(m.row(fixture.stage("s", 1)), join(s, {{19, 4}, {22, 1}, {31, 4}})), "");
}

const char *const kHarris = "gray 48 640 (0, 0) t gpu_block\n"
                            " gray 32 4 (0, 0) t gpu_thread\n"
                            "  gray 1 1 (0, 0) t gpu_serial\n"
                            "   gray 1v 1 (0, 0) * gpu_simd\n"
                            "Ix 24 20 (0, 0) t gpu_block\n"
                            " Ix 64 16 (0, 0) t gpu_thread\n"
                            "  Ix 1 8 (0, 0) t gpu_serial\n"
                            "   Ix 1v 1 (0, 0) * gpu_simd\n"
                            "Iy 24 20 (0, 0) t gpu_block\n"
                            " Iy 64 16 (0, 0) t gpu_thread\n"
                            "  Iy 1 8 (0, 0) t gpu_serial\n"
                            "   Iy 1v 1 (0, 0) * gpu_simd\n"
                            "output 24 20 (0, 0) t gpu_block\n"
                            " output 64 16 (0, 0) t gpu_thread\n"
                            "  output 1 8 (0, 0) t gpu_serial\n"
                            "   output 1v 1 (0, 0) * gpu_simd\n"
                            "    inlined: trace 1\n"
                            "    inlined: det 1\n"
                            "    inlined: Syy 2\n"
                            "    inlined: Iyy 18\n"
                            "    inlined: Sxy 1\n"
                            "    inlined: Ixy 9\n"
                            "    inlined: Sxx 2\n"
                            "    inlined: Ixx 18\n";

TEST(ReferenceExamples, HarrisPlacedFuncs) {
    const FeaturizerFixture fixture(harris_graph(), 80, true);
    const FeatureMatrix m = fixture.featurize(kHarris);
    const FeatureValues output{
        {0, 1},         {1, 1},         {2, 3907620},   {3, 3932160},   {4, 8},
        {5, 3907620},   {6, 3907620},   {7, 8},         {8, 8},         {9, 8},
        {10, 480},      {11, 1},        {12, 15630480}, {13, 15630480}, {14, 15630480},
        {15, 6120},     {16, 6120},     {17, 6120},     {19, 31326336}, {22, 5112},
        {25, 240},      {28, 20},       {31, 31326336}, {36, 32004},    {39, 252},
        {42, 72},       {43, 6},        {44, 68640},    {45, 260},      {47, 62652704},
        {48, 62652704}, {49, 62652704}, {50, 480},      {51, 32},       {52, 1},
        {53, 1},        {54, 32},       {59, 69120},    {61, 1024},     {69, 1},
        {70, 0.0625},   {71, 1024}};
    EXPECT_EQ(compare_row(m.row(fixture.stage("output")), output, kBranching), "");
    const FeatureValues ix = join(output,
                                  {{2, 3915792},
                                   {5, 3915792},
                                   {6, 3915792},
                                   {12, 15663168},
                                   {13, 15663168},
                                   {14, 15663168},
                                   {15, 6128},
                                   {16, 6128},
                                   {17, 6128},
                                   {19, 15695888},
                                   {22, 2558},
                                   {25, 120},
                                   {28, 10},
                                   {31, 15695888},
                                   {42, 36},
                                   {43, 3},
                                   {44, 34320},
                                   {45, 130},
                                   {59, 3840}});
    EXPECT_EQ(compare_row(m.row(fixture.stage("Ix")), ix, kBranching), "");
    EXPECT_EQ(compare_row(m.row(fixture.stage("Iy")), ix, kBranching), "");
    const FeatureValues gray =
        join(ix, {{2, 3923972},   {4, 1},      {5, 3923972}, {6, 3923972},   {7, 1},
                  {8, 1},         {9, 1},      {10, 30720},  {12, 15695888}, {13, 15695888},
                  {14, 15695888}, {15, 6136},  {16, 6136},   {17, 6136},     {19, 47087664},
                  {22, 7674},     {25, 12},    {28, 3},      {31, 47087664}, {36, 372},
                  {39, 124},      {42, 12},    {44, 1536},   {45, 12},       {50, 30720},
                  {51, 4},        {52, 0.125}, {54, 4},      {59, 48},       {61, 16},
                  {70, 0.5},      {71, 128}});
    EXPECT_EQ(compare_row(m.row(fixture.stage("gray")), gray, kBranching), "");
}

TEST(ReferenceExamples, HarrisInlinedFuncs) {
    const FeaturizerFixture fixture(harris_graph(), 80, true);
    const FeatureMatrix m = fixture.featurize(kHarris);
    const FeatureValues trace{{4, 8},
                              {6, 3907620},
                              {8, 8},
                              {10, 1},
                              {11, 480},
                              {14, 15630480},
                              {17, 6120},
                              {18, 3932160},
                              {49, 62652704},
                              {50, 480},
                              {51, 122880},
                              {71, 1024}};
    const FeatureValues wider{{6, 3915792}, {14, 15663168}, {17, 6128}};
    const auto row = [&](const char *func) { return m.row(fixture.stage(func)); };
    EXPECT_EQ(compare_row(row("trace"), trace), "");
    EXPECT_EQ(compare_row(row("det"), trace), "");
    EXPECT_EQ(compare_row(row("Sxy"), trace), "");
    const FeatureValues twice = join(trace, {{4, 16}, {18, 7864320}, {51, 245760}});
    EXPECT_EQ(compare_row(row("Sxx"), twice), "");
    EXPECT_EQ(compare_row(row("Syy"), twice), "");
    EXPECT_EQ(
        compare_row(row("Ixy"), join(join(trace, wider), {{4, 72}, {18, 35389440}, {51, 1105920}})),
        "");
    const FeatureValues ixx = join(join(trace, wider), {{4, 144}, {18, 70778880}, {51, 2211840}});
    EXPECT_EQ(compare_row(row("Ixx"), ixx), "");
    EXPECT_EQ(compare_row(row("Iyy"), ixx), "");
}

FeatureValues partial_out() {
    FeatureValues v =
        join(range(0, 1, 1), {{2, 1048576}, {3, 1048576}, {5, 1048576}, {6, 1048576}});
    v = join(join(v, {{11, 1}, {53, 1}}), range(12, 14, 4194304));
    return join(join(v, range(15, 17, 4096)), range(47, 49, 4194304));
}

TEST(ReferenceExamples, UntiledOutputWithProducerInRegisters) {
    const FeaturizerFixture fixture(mat_mul_graph(), 80, true);
    const FeatureMatrix m = fixture.featurize("out 1024 1024 (0, 0) t gpu_none\n"
                                              " out 1v 1 (0, 0) * gpu_simd\n");
    const FeatureValues out = {{4, 1},    {7, 1},      {8, 1},   {9, 1},    {10, 32768},   {21, 4},
                               {24, 1},   {27, 4},     {30, 1},  {36, 128}, {39, 128},     {42, 4},
                               {43, 4},   {50, 32768}, {51, 1},  {54, 1},   {52, 0.03125}, {61, 4},
                               {69, 0.5}, {70, 1},     {71, 32}, {72, 2}};
    EXPECT_EQ(compare_row(m.row(0), join(partial_out(), out)), "");
    EXPECT_FALSE(m.has(1)) << "a Func that is not placed has no features";
}

TEST(ReferenceExamples, TiledOutputWithProducerInRegisters) {
    const FeaturizerFixture fixture(mat_mul_graph(), 80, true);
    const FeatureMatrix m = fixture.featurize(mat_mul_text("", ""));
    const FeatureValues out = {{4, 4},  {7, 4},     {8, 4},   {9, 4},     {10, 4096},   {21, 4},
                               {24, 1}, {27, 4},    {30, 1},  {36, 1024}, {39, 256},    {42, 4},
                               {43, 4}, {50, 4096}, {51, 2},  {54, 2},    {52, 0.0625}, {61, 32},
                               {69, 1}, {70, 1},    {71, 64}, {72, 2}};
    EXPECT_EQ(compare_row(m.row(0), join(partial_out(), out)), "");
}

TEST(ReferenceExamples, UntiledProducerAtTheRoot) {
    const FeaturizerFixture fixture(mat_mul_graph(), 80, true);
    const FeatureMatrix m = fixture.featurize("prod 1024 1024 (0, 0) t gpu_none\n"
                                              " prod 1v 1 (0, 0) * gpu_simd\n"
                                              "prod 1024 1024 1024 (1, 0) t gpu_none\n"
                                              " prod 1 1v 1 (1, 0) * gpu_simd\n" +
                                              mat_mul_text("", ""));
    const FeatureValues sets = range(47, 49, 8388608);
    FeatureValues out = join(partial_out(), sets);
    out = join(out, {{4, 4},     {7, 4},       {8, 4},     {9, 4},        {10, 4096}, {19, 4194304},
                     {22, 1024}, {25, 16},     {28, 4},    {31, 4194304}, {36, 1024}, {39, 256},
                     {42, 4},    {43, 1},      {44, 1024}, {45, 4},       {50, 4096}, {51, 2},
                     {54, 2},    {52, 0.0625}, {59, 32},   {61, 32},      {65, 1},    {69, 1},
                     {70, 1},    {71, 64},     {72, 2}});
    EXPECT_EQ(compare_row(m.row(0), out), "");
    FeatureValues prod = join(partial_out(), sets);
    prod = join(prod,
                {{4, 1},
                 {7, 1},
                 {8, 1},
                 {9, 1},
                 {10, 32768},
                 {36, 128},
                 {39, 128},
                 {50, 32768},
                 {51, 1},
                 {54, 1},
                 {52, 0.03125},
                 {61, 4},
                 {69, 0.5},
                 {70, 1},
                 {71, 32},
                 {72, 2}});
    EXPECT_EQ(compare_row(m.row(1), prod), "");
    EXPECT_EQ(compare_row(m.row(2),
                          join(prod,
                               {{2, 1073741824},
                                {3, 1073741824},
                                {4, 1024},
                                {5, 1073741824},
                                {6, 1073741824},
                                {7, 1024},
                                {19, 12582912},
                                {22, 3072},
                                {25, 8192},
                                {28, 1025},
                                {31, 12582912},
                                {42, 8},
                                {43, 2},
                                {44, 135168},
                                {45, 1025},
                                {59, 5124},
                                {65, 0.825136612}})),
              "");
}

TEST(ReferenceExamples, ProducerInSharedMemory) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({1024, 1024}).reads("b", {at("x"), at("y", -20, 20)}, 41);
    b.func("b", {"x", "y"}).reads("A_im", {at("x"), at("y")});
    b.func("A_im", {"_0", "_1"}).input();
    const FeaturizerFixture fixture(b.build(), 80, true);
    const FeatureMatrix m = fixture.featurize("out 32 32 (0, 0) t gpu_block\n"
                                              " out 32 8 (0, 0) t gpu_thread\n"
                                              "  out 1 4 (0, 0) t gpu_serial\n"
                                              "   out 1v 1 (0, 0) * gpu_simd\n");
    const FeatureValues out{{4, 4},       {7, 4},       {8, 4},     {9, 4},     {10, 1024},
                            {20, 9216},   {23, 32},     {26, 176},  {29, 1},    {32, 9216},
                            {36, 4096},   {39, 128},    {42, 164},  {43, 1},    {50, 1024},
                            {51, 8},      {54, 8},      {52, 0.25}, {58, 352},  {61, 128},
                            {67, 0.1875}, {68, 0.3125}, {69, 1},    {70, 0.25}, {71, 256}};
    EXPECT_EQ(compare_row(m.row(0), join(partial_out(), out), kBranching), "");
}

TEST(ReferenceExamples, VectorisedSharedLoads) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({1024, 1024});
    b.reads("b", {at("x"), at("y")}).reads("b", {at("x", 64, 64), at("y")});
    b.func("b", {"x", "y"}).reads("A_im", {at("x"), at("y")});
    b.func("A_im", {"_0", "_1"}).input();
    const FeaturizerFixture fixture(b.build(), 80, true);
    const FeatureMatrix m = fixture.featurize("out 8 256 (0, 0) t gpu_block\n"
                                              " out 32 4 (0, 0) t gpu_thread\n"
                                              "  out 4 1 (0, 0) t gpu_serial\n"
                                              "   out 1v 1 (0, 0) * gpu_simd\n");
    const FeatureValues out{{4, 4},    {7, 4},    {8, 4},     {9, 4},     {10, 2048},   {20, 3072},
                            {23, 4},   {26, 272}, {29, 1},    {32, 3072}, {36, 2048},   {39, 512},
                            {42, 260}, {43, 1},   {50, 2048}, {51, 4},    {54, 4},      {52, 0.125},
                            {58, 32},  {61, 256}, {63, 0.25}, {64, 0.25}, {67, 0.0625}, {69, 1},
                            {70, 0.5}, {71, 128}};
    EXPECT_EQ(compare_row(m.row(0), join(partial_out(), out), kBranching), "");
}

TEST(ReferenceExamples, TailWarp) {
    GraphBuilder b;
    b.func("out", {"x", "y"}).output({24, 40});
    b.reads("A_im", {at("x"), at("y")}).reads("A_im", {at("y"), at("x")});
    b.func("A_im", {"_0", "_1"}).input();
    const FeaturizerFixture fixture(b.build(), 4, true);
    const FeatureMatrix m = fixture.featurize("out 1 20 (0, 0) t gpu_block\n"
                                              " out 24 2 (0, 0) t gpu_thread\n"
                                              "  out 1 1 (0, 0) t gpu_serial\n"
                                              "   out 1v 1 (0, 0) * gpu_simd\n");
    FeatureValues out = join(join(range(0, 1, 1), range(2, 3, 960)), range(5, 6, 960));
    out = join(join(out, range(7, 9, 1)), join(range(12, 14, 3840), range(15, 17, 96)));
    out = join(out, range(47, 49, 3840));
    out = join(
        out,
        {{4, 1},        {10, 20},       {11, 1},   {19, 6400}, {22, 40},           {25, 324},
         {28, 9},       {31, 6400},     {36, 192}, {39, 96},   {42, 324},          {43, 9},
         {44, 2304},    {45, 24},       {50, 20},  {51, 2},    {52, 0.046875},     {53, 0.75},
         {54, 2},       {57, 0.015625}, {59, 46},  {61, 6},    {65, 384.0 / 1472}, {69, 0.15625},
         {70, 0.15625}, {71, 48}});
    EXPECT_EQ(compare_row(m.row(0), out, kBranching), "");
}

}  // namespace
}  // namespace test
}  // namespace anderson2021
