#include "analyzer/knowledge/signature_matcher.h"

#include <fmt/format.h>
#include <hs/hs.h>

#include <algorithm>
#include <utility>

namespace inquest::knowledge {
namespace {

// Bounds the work per call; readers cut lines long before this.
constexpr size_t kTextMaxBytes = 1U << 20U;

struct FreeDatabase {
    void operator()(hs_database_t* database) const { hs_free_database(database); }
};
struct FreeScratch {
    void operator()(hs_scratch_t* scratch) const { hs_free_scratch(scratch); }
};
struct FreeError {
    void operator()(hs_compile_error_t* error) const { hs_free_compile_error(error); }
};

std::string escape_literal(const std::string& literal) {
    std::string result;
    for (const char byte : literal) {
        if (std::string_view("\\^$.|?*+()[]{}").find(byte) != std::string_view::npos) result += '\\';
        result += byte;
    }
    return result;
}

// All expressions and, for each, the signature that it belongs to.
struct Expressions {
    std::vector<std::string> texts;
    std::vector<unsigned> owners;
};

Expressions collect(const std::vector<Signature>& signatures) {
    Expressions all;
    const auto add = [&](std::string text, size_t owner) {
        all.texts.push_back(std::move(text));
        all.owners.push_back(static_cast<unsigned>(owner));
    };
    for (size_t owner = 0; owner < signatures.size(); ++owner) {
        for (const std::string& literal : signatures[owner].literals)
            add(escape_literal(literal), owner);
        for (const std::string& pattern : signatures[owner].patterns)
            add(pattern, owner);
    }
    return all;
}

int remember_match(unsigned owner, unsigned long long /*from*/, unsigned long long /*to*/, unsigned /*flags*/,
                   void* context) {
    static_cast<std::vector<size_t>*>(context)->push_back(owner);
    return 0;
}

LoadError compile_failure(const std::vector<Signature>& signatures, const Expressions& all,
                          const hs_compile_error_t& error) {
    const bool named = error.expression >= 0 && static_cast<size_t>(error.expression) < all.owners.size();
    const std::string id =
        named ? signatures[all.owners[static_cast<size_t>(error.expression)]].id : std::string("?");
    return {LoadErrorCode::kBadPattern, "signatures", 0,
            fmt::format("signature '{}': {}", id, error.message == nullptr ? "?" : error.message)};
}

}  // namespace

struct SignatureMatcher::Engine {
    std::unique_ptr<hs_database_t, FreeDatabase> database;
    std::unique_ptr<hs_scratch_t, FreeScratch> scratch;
};

SignatureMatcher::SignatureMatcher(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
SignatureMatcher::SignatureMatcher(SignatureMatcher&&) noexcept = default;
SignatureMatcher& SignatureMatcher::operator=(SignatureMatcher&&) noexcept = default;
SignatureMatcher::~SignatureMatcher() = default;

tl::expected<SignatureMatcher, LoadError> SignatureMatcher::compile(
    const std::vector<Signature>& signatures) {
    const Expressions all = collect(signatures);
    auto engine = std::make_unique<Engine>();
    if (all.texts.empty()) return SignatureMatcher(std::move(engine));
    std::vector<const char*> texts;
    for (const std::string& text : all.texts)
        texts.push_back(text.c_str());
    const std::vector<unsigned> flags(texts.size(), HS_FLAG_SINGLEMATCH | HS_FLAG_DOTALL);
    hs_database_t* database = nullptr;
    hs_compile_error_t* error = nullptr;
    const hs_error_t status =
        hs_compile_multi(texts.data(), flags.data(), all.owners.data(), static_cast<unsigned>(texts.size()),
                         HS_MODE_BLOCK, nullptr, &database, &error);
    const std::unique_ptr<hs_compile_error_t, FreeError> error_owner(error);
    if (status != HS_SUCCESS) return tl::unexpected(compile_failure(signatures, all, *error));
    engine->database.reset(database);
    hs_scratch_t* scratch = nullptr;
    if (hs_alloc_scratch(database, &scratch) != HS_SUCCESS) {
        return tl::unexpected(
            LoadError{LoadErrorCode::kBadPattern, "signatures", 0, "no memory for matching"});
    }
    engine->scratch.reset(scratch);
    return SignatureMatcher(std::move(engine));
}

std::vector<size_t> SignatureMatcher::find(std::string_view text) const {
    std::vector<size_t> found;
    if (!engine_->database || text.empty()) return found;
    const auto bytes = static_cast<unsigned>(std::min(text.size(), kTextMaxBytes));
    hs_scan(engine_->database.get(), text.data(), bytes, 0, engine_->scratch.get(), remember_match, &found);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

}  // namespace inquest::knowledge
