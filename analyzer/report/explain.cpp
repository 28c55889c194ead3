#include "analyzer/report/explain.h"

#include <fmt/format.h>

#include "analyzer/report/words.h"

namespace inquest::report {
namespace {

constexpr size_t kColumns = 100;

class Explanation {
 public:
    explicit Explanation(const knowledge::Cause& cause) : cause_(cause) {}

    std::string render() {
        text_ = fmt::format("{} ({})\n", cause_.name, cause_.id);
        paragraph("In one sentence", cause_.answer);
        paragraph("Mechanism", cause_.mechanism);
        list("What you will observe", cause_.observe);
        symptoms();
        list("Affected", cause_.affected);
        list("To confirm", cause_.checklist);
        list("Root causes", cause_.root_causes);
        fixes();
        paragraph("Verify", cause_.verify);
        paragraph("Hardware or software", cause_.hardware_or_software);
        paragraph("Is the checkpoint safe to resume from", cause_.checkpoint);
        list("Prevention", cause_.prevention);
        paragraph("Smoke test after a dependency changed", cause_.smoke_test);
        questions();
        paragraph("For a manager", cause_.executive);
        paragraph("For an engineer", cause_.engineer);
        paragraph("For whoever is on call", cause_.on_call);
        list("Related", cause_.related);
        list("References", cause_.references);
        return std::move(text_);
    }

 private:
    void title(const std::string& name) { text_ += "\n" + name + "\n"; }

    void line(const std::string& content, const std::string& bullet = "") {
        text_ += "  " + bullet + wrap(content, kColumns, 2 + bullet.size()) + "\n";
    }

    void paragraph(const std::string& name, const std::string& content) {
        title(name);
        line(content);
    }

    void list(const std::string& name, const std::vector<std::string>& items) {
        if (items.empty()) return;
        title(name);
        for (const std::string& item : items)
            line(item, "- ");
    }

    void symptoms() {
        if (cause_.symptoms.empty()) return;
        title("Symptom and why");
        for (const knowledge::Symptom& symptom : cause_.symptoms)
            line(symptom.symptom + ": " + symptom.why, "- ");
    }

    void code(const std::string& block) {
        size_t begin = 0;
        while (begin < block.size()) {
            const size_t end = std::min(block.find('\n', begin), block.size());
            text_ += "      " + block.substr(begin, end - begin) + "\n";
            begin = end + 1;
        }
    }

    void fixes() {
        for (const auto& [framework, fix] : cause_.fixes) {
            title("Fix (" + fix.framework + ")");
            line(fix.text);
            code(fix.code);
            line(fix.why);
        }
    }

    void questions() {
        if (cause_.questions.empty()) return;
        title("Questions");
        for (const knowledge::Question& question : cause_.questions) {
            line(question.question, "? ");
            line(question.answer, "  ");
        }
    }

    const knowledge::Cause& cause_;
    std::string text_;
};

}  // namespace

std::string render_explanation(const knowledge::Cause& cause) {
    return Explanation(cause).render();
}

}  // namespace inquest::report
