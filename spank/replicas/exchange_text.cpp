#include "spank/replicas/exchange_text.h"

#include <fmt/format.h>

#include <charconv>

namespace inquest::replicas {
namespace {

std::string head(char kind, const Source& source) {
    return fmt::format("{} {:x} {} {} {}", kind, source.world, source.born_wall_ns, source.rank,
                       source.world_size);
}

std::string body(const StateDigest& digest) {
    return fmt::format(" {} {} {} {} {} {:x} {:x} {:x} {:x} {}", digest.optimizer, digest.step, digest.site,
                       digest.part, digest.tensors, digest.promise, digest.place, digest.digest.low,
                       digest.digest.high, digest.ranks);
}

std::string body(const SamplerPass& pass) {
    return fmt::format(" {} {} {} {} {} {}", pass.loader, pass.epoch, pass.replicas, pass.rank, pass.samples,
                       pass.dataset);
}

std::string body(const SampleHashes& piece) {
    std::string text = fmt::format(" {} {} {}", piece.loader, piece.read, piece.index);
    for (const uint64_t hash : piece.hashes)
        text += fmt::format(" {:x}", hash);
    return text;
}

char kind_of(const ReplicaRecord& record) {
    return std::string_view("dps").at(record.what.index());
}

/* Takes fields from the front; after the first that is not what was asked for it has failed. */
class Fields {
 public:
    explicit Fields(std::string_view line) : rest_(line) {}

    std::string_view word() {
        const size_t end = rest_.find(' ');
        const std::string_view taken = rest_.substr(0, end);
        rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
        ok_ = ok_ && !taken.empty();
        return taken;
    }

    template <typename Number>
    Fields& number(Number& value, int base = 10) {
        const std::string_view text = word();
        const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
        ok_ = ok_ && error == std::errc{} && stop == text.data() + text.size();
        return *this;
    }

    [[nodiscard]] bool ended() const { return ok_ && rest_.empty(); }

 private:
    std::string_view rest_;
    bool ok_ = true;
};

bool parse_body(Fields& fields, StateDigest& digest) {
    fields.number(digest.optimizer).number(digest.step).number(digest.site).number(digest.part);
    fields.number(digest.tensors).number(digest.promise, 16).number(digest.place, 16);
    fields.number(digest.digest.low, 16).number(digest.digest.high, 16);
    digest.ranks = fields.word();
    return fields.ended() && digest.step >= 0 && digest.site >= INQUEST_SITE_START &&
           digest.site <= INQUEST_SITE_END;
}

bool parse_body(Fields& fields, SamplerPass& pass) {
    fields.number(pass.loader).number(pass.epoch).number(pass.replicas).number(pass.rank);
    return fields.number(pass.samples).number(pass.dataset).ended();
}

bool parse_body(Fields& fields, SampleHashes& piece) {
    fields.number(piece.loader).number(piece.read).number(piece.index);
    for (uint64_t& hash : piece.hashes)
        fields.number(hash, 16);
    return fields.ended() && piece.index < INQUEST_SAMPLES_RECORDS;
}

template <typename What>
std::optional<ReplicaRecord> parse_what(Fields& fields, const Source& source) {
    What what;
    if (!parse_body(fields, what)) return std::nullopt;
    return ReplicaRecord{source, std::move(what)};
}

}  // namespace

std::string format_record(const ReplicaRecord& record) {
    std::string line = head(kind_of(record), record.source) +
                       std::visit([](const auto& what) { return body(what); }, record.what);
    return line.size() <= kMaxLineBytes ? line : std::string();
}

std::optional<ReplicaRecord> parse_record(std::string_view line) {
    if (line.size() > kMaxLineBytes) return std::nullopt;
    Fields fields(line);
    Source source;
    const std::string_view kind = fields.word();
    fields.number(source.world, 16).number(source.born_wall_ns).number(source.rank);
    fields.number(source.world_size);
    if (kind == "d") return parse_what<StateDigest>(fields, source);
    if (kind == "p") return parse_what<SamplerPass>(fields, source);
    if (kind == "s") return parse_what<SampleHashes>(fields, source);
    return std::nullopt;
}

}  // namespace inquest::replicas
