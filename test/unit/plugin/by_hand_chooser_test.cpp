// Decisions taken from a file or at a terminal.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

#include "plugin/by_hand_chooser.h"
#include "support/error.h"
#include "support/log.h"

namespace anderson2021 {
namespace {

class ByHandTest : public ::testing::Test {
protected:
    ByHandTest() {
        char name[] = "/tmp/anderson_by_hand_XXXXXX";
        folder_ = mkdtemp(name);
        path_ = folder_ + "/decisions.txt";
        set_log_sink([this](const std::string &text) { log_ += text; });
    }
    ~ByHandTest() override {
        set_log_sink(nullptr);
        std::filesystem::remove_all(folder_);
    }

    void write(const std::string &text) const { std::ofstream(path_) << text; }
    std::string file() const {
        std::ifstream in(path_);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    // Without comments.
    std::string decisions() const {
        std::istringstream lines(file());
        std::string kept;
        for (std::string line; std::getline(lines, line);) {
            kept += line[0] == '#' ? "" : line + "\n";
        }
        return kept;
    }
    Transcript transcript() const { return Transcript(path_, {"out", "f", "g"}); }
    std::string error_of(const std::string &text) const {
        write(text);
        try {
            transcript();
        } catch (const UserError &e) {
            return e.what();
        }
        return "";
    }

    static Decision decision(const std::string &name, bool can_go_back = false) {
        Decision d;
        d.name = name;
        d.func_number = 1;
        d.num_funcs = 3;
        d.choices = {{"inlined", 1.5},
                     {"at the root", 2},
                     {"in the blocks of out: 1", 3},
                     {"in the blocks of out: 12", 4}};
        d.can_go_back = can_go_back;
        d.schedule = [] { return "the tree\n"; };
        return d;
    }

    std::string folder_, path_, log_;
    std::istringstream in_;
    std::ostringstream out_;
    const ByHandChooser::Terminal terminal_{in_, out_};
};

TEST_F(ByHandTest, LinesAreReadInAnyOrder) {
    write("# comment\n\n  f = 2 \nout tiles = block 1 = 2\r\nout = at the root\n* = automatic\n");
    const Transcript read = transcript();
    ASSERT_EQ(read.lines().size(), 3u);
    EXPECT_EQ(read.lines()[0].name, "out");
    EXPECT_EQ(read.lines()[0].number, 5);
    EXPECT_EQ(read.lines()[1].choice, "block 1 = 2");
    EXPECT_EQ(read.lines()[2].choice, "2");
    EXPECT_TRUE(read.is_automatic());
    EXPECT_TRUE(read.has_later("out tiles"));
    EXPECT_TRUE(read.has_later("f"));
    EXPECT_FALSE(read.has_later("f tiles"));
}

TEST_F(ByHandTest, AMissingFileIsAnEmptyOne) {
    EXPECT_TRUE(transcript().lines().empty());
    EXPECT_FALSE(transcript().is_automatic());
}

TEST_F(ByHandTest, MalformedLinesAreNamed) {
    EXPECT_NE(error_of("f = inlined\nnonsense\n").find(path_ + ":2: \"nonsense\""),
              std::string::npos);
    EXPECT_NE(error_of("f =\n").find(":1:"), std::string::npos);
    EXPECT_NE(error_of("= inlined\n").find(":1:"), std::string::npos);
    EXPECT_NE(error_of("h = inlined\n").find("named h"), std::string::npos);
    EXPECT_NE(error_of("f = 1\nf = 2\n").find("line 1 already"), std::string::npos);
    EXPECT_NE(error_of("* = cheap\n").find("automatic"), std::string::npos);
    std::filesystem::remove(path_);
    std::filesystem::create_directory(path_);
    EXPECT_THROW(transcript(), UserError);
}

TEST_F(ByHandTest, ChoicesAreMeantByTextNumberOrBeginning) {
    const auto resolve = [](const std::string &text) {
        return Transcript::resolve({"f", text, 1}, decision("f"));
    };
    EXPECT_EQ(resolve("at the root"), 1u);
    EXPECT_EQ(resolve("in the blocks of out: 12"), 3u);
    EXPECT_EQ(resolve("in the blocks"), 2u);
    EXPECT_EQ(resolve("4"), 3u);
    EXPECT_FALSE(resolve("0"));
    EXPECT_FALSE(resolve("5"));
    EXPECT_FALSE(resolve("99999999999999999999"));
    EXPECT_FALSE(resolve("in a block"));
}

TEST_F(ByHandTest, WithoutATerminalTheFileDecides) {
    write("f = in the blocks\n");
    ByHandChooser chooser(transcript(), nullptr);
    // The cheapest while lines follow, then a search.
    EXPECT_EQ(chooser.choose(decision("out tiles")).choice, 0u);
    EXPECT_EQ(chooser.choose(decision("f", true)).choice, 2u);
    EXPECT_EQ(chooser.choose(decision("g", true)).kind, Answer::Kind::Automatic);
    EXPECT_FALSE(chooser.take_back("g", ""));
    chooser.done(1);
    EXPECT_EQ(file(), "f = in the blocks\n") << "only answers change the file";
    EXPECT_EQ(log_, "");
}

TEST_F(ByHandTest, WithoutATerminalALineThatCannotBeFollowedIsAnError) {
    write("\nf = in a block\n");
    ByHandChooser chooser(transcript(), nullptr);
    try {
        chooser.choose(decision("f"));
        FAIL() << "nothing was thrown";
    } catch (const UserError &e) {
        const std::string text = e.what();
        EXPECT_NE(text.find(path_ + ":2: \"in a block\""), std::string::npos) << text;
        EXPECT_NE(text.find("\n  inlined\n  at the root\n"), std::string::npos) << text;
    }
}

TEST_F(ByHandTest, LinesWithoutEffectAreWarnedAbout) {
    write("f = inlined\nf tiles = block 8\n");
    ByHandChooser chooser(transcript(), nullptr);
    chooser.choose(decision("f"));
    chooser.done(1);
    EXPECT_NE(log_.find("Warning: " + path_ + ":2: "), std::string::npos) << log_;
}

TEST_F(ByHandTest, AnswersGoToTheFile) {
    in_.str("3\n\nnonsense\n?\np\nm\n 2 \n");
    ByHandChooser chooser(transcript(), &terminal_);
    EXPECT_EQ(chooser.choose(decision("out tiles")).choice, 2u);
    EXPECT_EQ(decisions(), "out tiles = in the blocks of out: 1\n");
    EXPECT_EQ(chooser.choose(decision("f", true)).choice, 0u);
    EXPECT_EQ(chooser.choose(decision("g", true)).choice, 1u);
    chooser.done(0.25);
    EXPECT_EQ(decisions(), "out tiles = in the blocks of out: 1\nf = inlined\ng = at the root\n");
    EXPECT_NE(file().find("# predicted: 0.25 ms\n"), std::string::npos);
    const std::string shown = out_.str();
    EXPECT_NE(shown.find("Func 1 of 3: out tiles, 4 choices\n"), std::string::npos) << shown;
    EXPECT_NE(shown.find("    1        1.5 ms  inlined\n"), std::string::npos) << shown;
    EXPECT_NE(shown.find("That is none of the answers"), std::string::npos);
    EXPECT_NE(shown.find("the tree\n"), std::string::npos);
    EXPECT_NE(shown.find("There are no more."), std::string::npos);

    // The file gives the same again, without a question.
    ByHandChooser again(transcript(), nullptr);
    EXPECT_EQ(again.choose(decision("out tiles")).choice, 2u);
    EXPECT_EQ(again.choose(decision("f", true)).choice, 0u);
    EXPECT_EQ(again.choose(decision("g", true)).choice, 1u);
}

TEST_F(ByHandTest, BackAlsoTakesLinesOfTheFileBack) {
    write("out tiles = 2\n");
    in_.str("b\nb\n4\n1\n");
    ByHandChooser chooser(transcript(), &terminal_);
    EXPECT_EQ(chooser.choose(decision("out tiles")).choice, 1u);
    EXPECT_EQ(chooser.choose(decision("f", true)).kind, Answer::Kind::Back);
    // Now it is asked; nothing is before it.
    EXPECT_EQ(chooser.choose(decision("out tiles")).choice, 3u);
    EXPECT_NE(out_.str().find("This is the first decision."), std::string::npos);
    EXPECT_EQ(chooser.choose(decision("f", true)).choice, 0u);
    EXPECT_EQ(decisions(), "out tiles = in the blocks of out: 12\nf = inlined\n");
}

TEST_F(ByHandTest, DeadEndsLeadBack) {
    in_.str("2\n");
    ByHandChooser chooser(transcript(), &terminal_);
    chooser.choose(decision("f"));
    EXPECT_TRUE(chooser.take_back("g", "a rule"));
    EXPECT_EQ(decisions(), "");
    EXPECT_NE(out_.str().find("Nothing legal is left for Func g, candidates were dropped by: a "
                              "rule"),
              std::string::npos);
}

TEST_F(ByHandTest, AutomaticIsRemembered) {
    in_.str("1\na\n");
    ByHandChooser chooser(transcript(), &terminal_);
    chooser.choose(decision("out tiles"));
    EXPECT_EQ(chooser.choose(decision("f", true)).kind, Answer::Kind::Automatic);
    EXPECT_EQ(decisions(), "out tiles = inlined\n* = automatic\n");
    ByHandChooser again(transcript(), &terminal_);
    EXPECT_EQ(again.choose(decision("out tiles")).choice, 0u);
    EXPECT_EQ(again.choose(decision("f", true)).kind, Answer::Kind::Automatic);
}

TEST_F(ByHandTest, QuittingKeepsWhatWasDecided) {
    for (const char *end : {"q\n", ""}) {
        std::filesystem::remove(path_);
        std::istringstream in(std::string("2\n") + end);
        const ByHandChooser::Terminal terminal{in, out_};
        ByHandChooser chooser(transcript(), &terminal);
        chooser.choose(decision("f"));
        try {
            chooser.choose(decision("g", true));
            FAIL() << "nothing was thrown";
        } catch (const UserError &e) {
            EXPECT_NE(std::string(e.what()).find(path_), std::string::npos);
        }
        EXPECT_EQ(decisions(), "f = at the root\n");
    }
}

TEST_F(ByHandTest, LinesThatBecameImpossibleAreAsked) {
    write("f = somewhere else\n");
    in_.str("1\n");
    ByHandChooser chooser(transcript(), &terminal_);
    EXPECT_EQ(chooser.choose(decision("f")).choice, 0u);
    EXPECT_NE(out_.str().find("Not possible any more: f = somewhere else"), std::string::npos);
    EXPECT_EQ(decisions(), "f = inlined\n");
}

}  // namespace
}  // namespace anderson2021
