// Finds signatures in texts: one pass of Vectorscan over all patterns, linear in the text.
// Vectorscan keeps no state between calls here; one matcher per thread (its scratch space is not shared).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "analyzer/knowledge/load_error.h"
#include "analyzer/knowledge/signature.h"

namespace inquest::knowledge {

class SignatureMatcher {
 public:
    // Keeps no reference to `signatures`; matches are indices into it.
    static tl::expected<SignatureMatcher, LoadError> compile(const std::vector<Signature>& signatures);

    SignatureMatcher(SignatureMatcher&&) noexcept;
    SignatureMatcher& operator=(SignatureMatcher&&) noexcept;
    ~SignatureMatcher();

    // Indices of the signatures found in `text`, ascending, each once.
    std::vector<size_t> find(std::string_view text) const;

 private:
    struct Engine;
    explicit SignatureMatcher(std::unique_ptr<Engine> engine);
    std::unique_ptr<Engine> engine_;
};

}  // namespace inquest::knowledge
