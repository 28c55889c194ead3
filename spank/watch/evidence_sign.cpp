#include "spank/watch/evidence_sign.h"

#include <sys/stat.h>

#include "spank/harvest/file_access.h"
#include "spank/harvest/report_directory.h"

namespace inquest::watch {

std::optional<int64_t> read_sign(const harvest::StepDescription& step) {
    const harvest::UniqueFd evidence = harvest::open_step_evidence(step);
    struct stat status {};
    if (!evidence.valid() || fstat(evidence.get(), &status) != 0) return std::nullopt;
    return status.st_mtim.tv_sec * 1000000000LL + status.st_mtim.tv_nsec;
}

tl::expected<void, std::string> give_sign(const harvest::StepDescription& step) {
    const auto evidence = harvest::make_step_evidence(step);
    if (!evidence) return tl::make_unexpected(evidence.error());
    if (futimens(evidence->get(), nullptr) != 0) return tl::make_unexpected(harvest::errno_text());
    return {};
}

}  // namespace inquest::watch
