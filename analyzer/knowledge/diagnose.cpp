#include "analyzer/knowledge/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/knowledge/hypothesis.h"
#include "analyzer/knowledge/template_text.h"

namespace inquest::knowledge {
namespace {

using model::Diagnosis;
using model::Observation;
using model::Subject;

constexpr size_t kEvidencePerLink = 4;
constexpr size_t kNotesMax = 50;

std::vector<int> ranks_of(const std::vector<model::Party>& parties) {
    std::vector<int> ranks;
    for (const model::Party& party : parties) {
        if (party.rank) ranks.push_back(*party.rank);
    }
    return ranks;
}

bool is_party(const std::vector<model::Party>& parties, const Subject& subject) {
    return std::any_of(parties.begin(), parties.end(), [&](const model::Party& party) {
        return party.rank == subject.rank && (subject.rank || party.node == subject.node);
    });
}

void sort_parties(std::vector<model::Party>& parties) {
    std::stable_sort(parties.begin(), parties.end(), [](const model::Party& a, const model::Party& b) {
        return std::make_pair(a.rank.value_or(1 << 30), a.node) <
               std::make_pair(b.rank.value_or(1 << 30), b.node);
    });
}

void add_parties(std::vector<model::Party>& parties, const Observation& observation, const std::string& why) {
    for (const Subject& subject : observation.subjects) {
        const model::Place& place = subject.place.known() ? subject.place : observation.place;
        if (!is_party(parties, subject)) parties.push_back({subject.rank, subject.node, place, why});
    }
}

// One observation that stands for several with the same text: ranks and evidence joined.
Observation join(const ObservationRefs& found) {
    Observation joined = *found.front();
    for (size_t index = 1; index < found.size(); ++index) {
        joined.subjects.insert(joined.subjects.end(), found[index]->subjects.begin(),
                               found[index]->subjects.end());
        joined.evidence.insert(joined.evidence.end(), found[index]->evidence.begin(),
                               found[index]->evidence.end());
    }
    return joined;
}

// Observations of a condition, grouped by what its text would say about each apart from the ranks.
std::vector<Observation> grouped(const ObservationRefs& found, const std::string& text) {
    std::vector<std::pair<std::string, ObservationRefs>> groups;
    for (const Observation* observation : found) {
        Values values = values_of(*observation);
        values["ranks"] = values["nodes"] = values["verb_s"] = "";
        const std::string key = fill_in(text, values);
        const auto group =
            std::find_if(groups.begin(), groups.end(), [&](const auto& known) { return known.first == key; });
        if (group == groups.end()) {
            groups.push_back({key, {observation}});
        } else {
            group->second.push_back(observation);
        }
    }
    std::vector<Observation> joined;
    joined.reserve(groups.size());
    for (const auto& [key, members] : groups)
        joined.push_back(join(members));
    return joined;
}

class Composer {
 public:
    Composer(const Observations& observations, const Hypothesis& root)
        : observations_(observations), root_(root), subject_(root.subject) {}

    Diagnosis compose() {
        diagnosis_.cause = root_.cause->id;
        diagnosis_.family = root_.rule->family.empty() ? root_.cause->family : root_.rule->family;
        diagnosis_.name = root_.cause->name;
        diagnosis_.confidence = root_.confidence;
        diagnosis_.end = observed_end();
        name_parties();
        write_sentences();
        write_chain();
        diagnosis_.supporting = tell(root_.cause->evidence_for);
        diagnosis_.against = tell(root_.cause->evidence_against);
        diagnosis_.contributing = tell(root_.cause->contributing);
        copy_knowledge();
        add_divergence();
        return std::move(diagnosis_);
    }

 private:
    const Observation* subject() const { return subject_.fact.empty() ? nullptr : &subject_; }

    std::string observed_end() const {
        if (root_.rule->end != "observed") return root_.rule->end;
        const auto found = subject_.attributes.find("at_end");
        return found == subject_.attributes.end() ? "unknown" : found->second;
    }

    void name_parties() {
        if (root_.rule->blames && subject() != nullptr) {
            add_parties(diagnosis_.initiating, subject_, fill_in(root_.rule->initiator, values_of(subject_)));
        }
        for (const Condition& condition : root_.cause->collateral) {
            for (const Observation* observation : find_all(observations_, condition, subject())) {
                add_collateral(*observation, condition.text);
            }
        }
        sort_parties(diagnosis_.initiating);
        sort_parties(diagnosis_.collateral);
    }

    void add_collateral(const Observation& observation, const std::string& text) {
        Observation innocent = observation;
        const auto initiates = [&](const Subject& subject) {
            return is_party(diagnosis_.initiating, subject);
        };
        innocent.subjects.erase(std::remove_if(innocent.subjects.begin(), innocent.subjects.end(), initiates),
                                innocent.subjects.end());
        add_parties(diagnosis_.collateral, innocent, fill_in(text, values_of(observation)));
    }

    void write_sentences() {
        Values values = values_of(subject_);
        values["collateral"] = describe_ranks(ranks_of(diagnosis_.collateral));
        diagnosis_.headline = fill_in(root_.rule->headline, values);
        diagnosis_.summary = fill_in(root_.rule->summary, values);
        std::string missing = root_.rule->missing_fact;
        if (missing.empty() && root_.confidence <= model::Confidence::kPossible) {
            missing = root_.cause->missing_fact;
        }
        if (!missing.empty()) diagnosis_.missing_fact = fill_in(missing, values);
    }

    void write_chain() {
        for (const Condition& condition : root_.cause->chain) {
            const ObservationRefs found = find_all(observations_, condition, subject());
            for (const Observation& group : grouped(found, condition.text))
                add_link(group, condition.text);
        }
    }

    void add_link(const Observation& observation, const std::string& text) {
        model::ChainLink link{fill_in(text, values_of(observation)), {}};
        const size_t count = std::min(observation.evidence.size(), kEvidencePerLink);
        for (size_t index = 0; index < count; ++index) {
            const size_t id = remember(observation.evidence[index]);
            if (std::find(link.evidence.begin(), link.evidence.end(), id) == link.evidence.end()) {
                link.evidence.push_back(id);
            }
        }
        diagnosis_.chain.push_back(std::move(link));
    }

    size_t remember(const model::Evidence& evidence) {
        for (size_t id = 0; id < diagnosis_.evidence.size(); ++id) {
            const model::Evidence& known = diagnosis_.evidence[id];
            if (known.source.source == evidence.source.source && known.text == evidence.text &&
                known.source.position == evidence.source.position && known.rank == evidence.rank) {
                return id;
            }
        }
        diagnosis_.evidence.push_back(evidence);
        return diagnosis_.evidence.size() - 1;
    }

    std::vector<std::string> tell(const std::vector<Condition>& conditions) const {
        std::vector<std::string> texts;
        for (const Condition& condition : conditions) {
            const ObservationRefs found = find_all(observations_, condition, subject());
            for (const Observation& group : grouped(found, condition.text)) {
                texts.push_back(fill_in(condition.text, values_of(group)));
            }
        }
        return texts;
    }

    std::string framework() const {
        for (const Observation& observation : observations_) {
            if (observation.fact == "framework") return observation.attributes.at("framework");
        }
        return "any";
    }

    // Of the root, or of the observation that the root's facts accompany, else the first that is known.
    void add_divergence() {
        diagnosis_.divergence = subject_.divergence;
        for (const bool at_the_same_time : {true, false}) {
            for (const Observation& observation : observations_) {
                if (diagnosis_.divergence) return;
                const bool wanted = !at_the_same_time || observation.wall_ns == subject_.wall_ns;
                if (wanted) diagnosis_.divergence = observation.divergence;
            }
        }
    }

    bool has_fact(const std::string& fact) const {
        return std::any_of(observations_.begin(), observations_.end(),
                           [&](const Observation& observation) { return observation.fact == fact; });
    }

    // While the step still runs, only a hang with a known cause is worth an interruption: what is merely slow
    // may end well.
    bool proven_hang() const {
        return diagnosis_.end == "hang" && diagnosis_.confidence != model::Confidence::kUnknown;
    }

    void copy_knowledge() {
        const Cause& cause = *root_.cause;
        const auto special = cause.fixes.find(framework());
        diagnosis_.fix = special != cause.fixes.end() ? special->second : cause.fixes.at("any");
        diagnosis_.verify = cause.verify;
        diagnosis_.hardware_or_software = cause.hardware_or_software;
        diagnosis_.checkpoint = cause.checkpoint;
        diagnosis_.prevention = cause.prevention;
        diagnosis_.related = cause.related;
        diagnosis_.worth_a_notice =
            !cause.silent && (proven_hang() || diagnosis_.end == "silent" || has_fact("step_failed"));
    }

    const Observations& observations_;
    const Hypothesis& root_;
    const Observation& subject_;
    Diagnosis diagnosis_;
};

std::vector<std::string> describe_notes(const model::Timeline& timeline) {
    std::vector<std::string> notes;
    for (const model::Note& note : timeline.notes) {
        std::string text = note.source.source;
        if (!note.source.position.empty()) text += ", " + note.source.position;
        text += ": " + note.text;
        if (note.count > 1) text += fmt::format(" ({} times)", note.count);
        notes.push_back(std::move(text));
    }
    std::stable_sort(notes.begin(), notes.end());
    if (notes.size() > kNotesMax) {
        const size_t more = notes.size() - kNotesMax;
        notes.resize(kNotesMax);
        notes.push_back(fmt::format("{} more notes", more));
    }
    return notes;
}

// Versions that all processes agree on; where they differ, all of them.
std::map<std::string, std::optional<std::string>> collect_versions(const model::Timeline& timeline) {
    std::map<std::string, std::set<std::string>> seen;
    for (const model::Rank& rank : timeline.ranks) {
        for (const std::string name : {"torch", "python", "nccl", "cuda"}) {
            const auto found = rank.environment.find(name);
            if (found != rank.environment.end()) seen[name].insert(found->second);
        }
    }
    std::map<std::string, std::optional<std::string>> versions = {{"torch", std::nullopt},
                                                                  {"python", std::nullopt}};
    for (const auto& [name, values] : seen)
        versions[name] = fmt::format("{}", fmt::join(values, " and "));
    return versions;
}

}  // namespace

Diagnosis diagnose(const Knowledge& knowledge, const Observations& observations,
                   const model::Timeline& timeline) {
    const Hypothesis root = choose_root(knowledge, observations);
    Diagnosis diagnosis = Composer(observations, root).compose();
    // Logs without a step: whoever asks for a report wants the short form too.
    if (timeline.nodes.empty() && !root.cause->silent) diagnosis.worth_a_notice = true;
    diagnosis.job = timeline.job;
    diagnosis.step = timeline.step;
    diagnosis.notes = describe_notes(timeline);
    diagnosis.injected = timeline.injected;
    diagnosis.versions = collect_versions(timeline);
    return diagnosis;
}

}  // namespace inquest::knowledge
