#include <fmt/format.h>

#include "analyzer/knowledge/template_text.h"
#include "analyzer/report/render.h"
#include "analyzer/report/words.h"

namespace inquest::report {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kIndent = 2;
constexpr size_t kLabelWidth = 12;
constexpr size_t kFactWidth = 15;

class TextReport {
 public:
    explicit TextReport(const model::Diagnosis& diagnosis) : diagnosis_(diagnosis) {}

    std::string render() {
        head();
        parties("Who started it", diagnosis_.initiating, "nobody can be named");
        parties("Who merely suffered", diagnosis_.collateral, "nobody");
        divergence();
        chain();
        list("What speaks for it", diagnosis_.supporting);
        list("What speaks against it", diagnosis_.against);
        list("Contributing", diagnosis_.contributing);
        missing();
        fix();
        paragraph("Hardware or software", diagnosis_.hardware_or_software);
        paragraph("Is the checkpoint safe", diagnosis_.checkpoint);
        list("So that it does not happen again", diagnosis_.prevention);
        list("Check next", diagnosis_.related);
        evidence();
        list("Damage met while reading", diagnosis_.notes);
        environment();
        return std::move(text_);
    }

 private:
    void title(const std::string& name) { text_ += "\n" + name + "\n"; }

    void line(const std::string& content, const std::string& bullet = "") {
        const size_t indent = kIndent + bullet.size();
        text_ += std::string(kIndent, ' ') + bullet + wrap(content, kColumns, indent) + "\n";
    }

    void paragraph(const std::string& name, const std::string& content) {
        if (content.empty()) return;
        title(name);
        line(content);
    }

    void list(const std::string& name, const std::vector<std::string>& items) {
        if (items.empty()) return;
        title(name);
        for (const std::string& item : items)
            line(item, "- ");
    }

    void head() {
        text_ += fmt::format("inquest: {} {}\n\n", job_text(diagnosis_), diagnosis_.headline);
        line(diagnosis_.summary);
        text_ += "\n";
        const std::string id =
            diagnosis_.family.empty() ? diagnosis_.cause : diagnosis_.family + "/" + diagnosis_.cause;
        line(fmt::format("{:<{}}{} ({})", "cause", kLabelWidth, diagnosis_.name, id));
        line(fmt::format("{:<{}}{}", "confidence", kLabelWidth, confidence_name(diagnosis_.confidence)));
        line(fmt::format("{:<{}}{}", "end", kLabelWidth, diagnosis_.end));
    }

    void parties(const std::string& name, const std::vector<model::Party>& list, const std::string& none) {
        if (list.empty() && diagnosis_.end == "healthy") return;
        title(name);
        if (list.empty()) line(none);
        for (const std::string& one : party_lines(list))
            line(one, "- ");
    }

    void fact(const std::string& label, const std::string& content) {
        line(fmt::format("{:<{}}{}", label, kFactWidth, content));
    }

    static std::string step_or(const std::optional<int64_t>& step, const std::string& otherwise) {
        if (!step) return otherwise;
        return *step == 0 ? std::string("before the first step") : fmt::format("step {}", *step);
    }

    void divergence() {
        if (!diagnosis_.divergence) return;
        const model::Divergence& found = *diagnosis_.divergence;
        title("What differs between the replicas");
        fact("part", found.part);
        if (found.first_bad_step) {
            fact("last equal", step_or(found.last_good_step, "no equal checkpoint was recorded"));
            fact("first unequal", step_or(found.first_bad_step, "unknown"));
        }
        if (!found.tensors.empty()) fact("tensors", fmt::format("{}", fmt::join(found.tensors, ", ")));
        fact("off", knowledge::describe_ranks(found.ranks) +
                        (found.tie ? " (a tie: counting does not tell which side is right)" : ""));
        if (!found.growth.empty()) fact("growth", found.growth);
    }

    void chain() {
        if (diagnosis_.chain.empty()) return;
        title("What happened, step by step");
        for (size_t index = 0; index < diagnosis_.chain.size(); ++index) {
            const model::ChainLink& link = diagnosis_.chain[index];
            std::string content = link.text;
            for (const size_t id : link.evidence)
                content += fmt::format(" [e{}]", id + 1);
            line(content, fmt::format("{}. ", index + 1));
        }
    }

    void missing() {
        if (diagnosis_.missing_fact)
            paragraph("The missing fact, and how to get it next time", *diagnosis_.missing_fact);
    }

    void code(const std::string& block) {
        size_t begin = 0;
        while (begin < block.size()) {
            const size_t end = std::min(block.find('\n', begin), block.size());
            text_ += std::string(kIndent * 3, ' ') + block.substr(begin, end - begin) + "\n";
            begin = end + 1;
        }
    }

    void fix() {
        if (!diagnosis_.fix) return;
        title("Fix (" + diagnosis_.fix->framework + ")");
        line(diagnosis_.fix->text);
        code(diagnosis_.fix->code);
        line(diagnosis_.fix->why);
        if (diagnosis_.verify) paragraph("Verify", *diagnosis_.verify);
    }

    void evidence() {
        if (diagnosis_.evidence.empty()) return;
        title("Evidence");
        for (size_t index = 0; index < diagnosis_.evidence.size(); ++index) {
            const model::Evidence& item = diagnosis_.evidence[index];
            std::string content = item.source.source;
            if (!item.source.position.empty()) content += ", " + item.source.position;
            if (item.rank) content += fmt::format(", rank {}", *item.rank);
            if (item.wall_ns > 0) content += ", " + time_text(item.wall_ns);
            line(content + ": " + item.text, fmt::format("e{}  ", index + 1));
        }
    }

    void environment() {
        std::string content;
        for (const auto& [name, value] : diagnosis_.versions) {
            if (!value) continue;
            content += (content.empty() ? "" : ", ") + name + " " + *value;
        }
        if (diagnosis_.injected && !diagnosis_.injected->empty()) {
            content += content.empty() ? "" : "; ";
            content += fmt::format("set by Inquest: {}", fmt::join(*diagnosis_.injected, ", "));
        }
        paragraph("Versions and settings", content);
    }

    const model::Diagnosis& diagnosis_;
    std::string text_;
};

}  // namespace

std::string render_text(const model::Diagnosis& diagnosis) {
    return TextReport(diagnosis).render();
}

}  // namespace inquest::report
