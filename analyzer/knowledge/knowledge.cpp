#include "analyzer/knowledge/knowledge.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "analyzer/knowledge/load_cause.h"

namespace inquest::knowledge {
namespace {

namespace fs = std::filesystem;
constexpr const char* kSignatureFolder = "signatures";

// Paths of all YAML files one level below `directory`, relative to it, sorted.
tl::expected<std::vector<std::string>, LoadError> list_files(const std::string& directory) {
    std::vector<std::string> files;
    std::error_code error;
    fs::recursive_directory_iterator entry(directory, error);
    for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() == ".yaml") {
            files.push_back(fs::path(entry->path()).lexically_relative(directory).string());
        }
    }
    if (error) {
        return tl::unexpected(LoadError{LoadErrorCode::kUnreadable, directory, 0, error.message()});
    }
    std::sort(files.begin(), files.end());
    return files;
}

bool is_signature_file(const std::string& file) {
    return fs::path(file).begin()->string() == kSignatureFolder;
}

LoadError duplicate(const std::string& file, const std::string& id) {
    return {LoadErrorCode::kDuplicateId, file, 0, "id '" + id + "' is used twice"};
}

// Loads one file into the two lists.
tl::expected<void, LoadError> load_file(const std::string& directory, const std::string& file,
                                        std::vector<Cause>& causes, std::vector<Signature>& signatures) {
    const std::string path = (fs::path(directory) / file).string();
    if (is_signature_file(file)) {
        auto loaded = load_signatures(path, file);
        if (!loaded) return tl::unexpected(loaded.error());
        signatures.insert(signatures.end(), loaded->begin(), loaded->end());
        return {};
    }
    auto cause = load_cause(path, file);
    if (!cause) return tl::unexpected(cause.error());
    causes.push_back(std::move(*cause));
    return {};
}

tl::expected<void, LoadError> check_ids(const std::vector<Cause>& causes,
                                        const std::vector<Signature>& signatures) {
    std::set<std::string> seen;
    int fallbacks = 0;
    for (const Cause& cause : causes) {
        if (!seen.insert(cause.id).second) return tl::unexpected(duplicate(cause.file, cause.id));
        fallbacks += cause.fallback ? 1 : 0;
    }
    std::set<std::string> seen_signatures;
    for (const Signature& signature : signatures) {
        if (!seen_signatures.insert(signature.id).second) {
            return tl::unexpected(duplicate(kSignatureFolder, signature.id));
        }
    }
    if (fallbacks == 1) return {};
    return tl::unexpected(
        LoadError{LoadErrorCode::kNoFallback, "knowledge", 0, "exactly one cause must be the fallback"});
}

}  // namespace

const Cause* Knowledge::find(const std::string& id) const {
    const auto found =
        std::find_if(causes.begin(), causes.end(), [&](const Cause& cause) { return cause.id == id; });
    return found == causes.end() ? nullptr : &*found;
}

const Cause& Knowledge::fallback() const {
    return *std::find_if(causes.begin(), causes.end(), [](const Cause& cause) { return cause.fallback; });
}

tl::expected<Knowledge, LoadError> load_knowledge(const std::string& directory) {
    const auto files = list_files(directory);
    if (!files) return tl::unexpected(files.error());
    std::vector<Cause> causes;
    std::vector<Signature> signatures;
    for (const std::string& file : *files) {
        auto loaded = load_file(directory, file, causes, signatures);
        if (!loaded) return tl::unexpected(loaded.error());
    }
    const auto checked = check_ids(causes, signatures);
    if (!checked) return tl::unexpected(checked.error());
    std::sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) { return a.id < b.id; });
    auto matcher = SignatureMatcher::compile(signatures);
    if (!matcher) return tl::unexpected(matcher.error());
    return Knowledge{std::move(causes), std::move(signatures), std::move(*matcher)};
}

}  // namespace inquest::knowledge
