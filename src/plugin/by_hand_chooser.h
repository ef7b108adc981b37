// Takes decisions from a transcript, and asks somebody at a terminal for the others.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "algorithm/pipeline_graph.h"
#include "plugin/transcript.h"
#include "search/chooser.h"
#include "support/options.h"

namespace anderson2021 {

class ByHandChooser : public Chooser {
public:
    /// Where questions go to and answers come from.
    struct Terminal {
        std::istream &in;
        std::ostream &out;
    };

    /// @param terminal  null: nobody is asked. What the transcript does not decide is then left to
    ///                  the search: the cheapest choice as long as lines follow that may matter,
    ///                  and a beam search afterwards.
    ByHandChooser(Transcript transcript, const Terminal *terminal);

    /// Throws UserError for `q`, for the end of the input, and, if nobody is asked, for a line that
    /// means none of the choices.
    Answer choose(const Decision &decision) override;
    bool take_back(const std::string &func, const std::string &reason) override;
    void done(double cost) override;

private:
    Answer ask(const Decision &decision);
    Answer take(const Decision &decision, size_t choice);
    Answer go_back();
    void save();
    void list(const Decision &decision, size_t first, size_t count) const;
    [[noreturn]] void quit();
    [[noreturn]] void refuse(const Transcript::Line &line, const Decision &decision) const;

    Transcript transcript_;
    const Terminal *terminal_;
    // Decisions in the order in which they were taken.
    std::vector<std::string> taken_;
    bool asked_ = false;
};

/// The transcript of option by_hand for this pipeline.
Transcript read_transcript(const Options &options, const PipelineGraph &graph);
/// Whether questions may be asked, by option by_hand_ask and what stdin and stderr are.
bool may_ask(const Options &options);

}  // namespace anderson2021
