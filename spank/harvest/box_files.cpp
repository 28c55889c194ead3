#include "spank/harvest/box_files.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <cstring>

#include "spank/harvest/file_access.h"

namespace inquest::harvest {
namespace {

constexpr int kCompressionLevel = 3;

bool has_magic(int box_fd) {
    char magic[sizeof(inquest_box_header::magic)];
    return pread(box_fd, magic, sizeof magic, 0) == static_cast<ssize_t>(sizeof magic) &&
           std::memcmp(magic, INQUEST_BOX_MAGIC, sizeof magic) == 0;
}

tl::expected<std::string, std::string> compress(const std::string& bytes) {
    std::string compressed(ZSTD_compressBound(bytes.size()), '\0');
    const size_t size =
        ZSTD_compress(compressed.data(), compressed.size(), bytes.data(), bytes.size(), kCompressionLevel);
    if (ZSTD_isError(size) != 0U)
        return tl::make_unexpected(fmt::format("zstd: {}", ZSTD_getErrorName(size)));
    compressed.resize(size);
    return compressed;
}

}  // namespace

std::vector<BoxFile> find_boxes(const std::vector<std::string>& names) {
    std::vector<BoxFile> boxes;
    for (const std::string& name : names) {
        const auto process = identity_from_name(name, "box-", ".ibb");
        if (process && boxes.size() < kMaxBoxes) boxes.push_back({*process, name});
    }
    return boxes;
}

std::optional<inquest_box_live> read_live_counters(int box_fd) {
    inquest_box_live live{};
    if (!has_magic(box_fd)) return std::nullopt;
    const ssize_t count = pread(box_fd, &live, sizeof live, INQUEST_BOX_LIVE_OFFSET);
    if (count != static_cast<ssize_t>(sizeof live)) return std::nullopt;
    return live;
}

std::optional<inquest_box_live> read_live_counters_of(int directory_fd, const std::string& name) {
    const UniqueFd box = open_regular_file(directory_fd, name);
    return box.valid() ? read_live_counters(box.get()) : std::nullopt;
}

tl::expected<std::string, std::string> compress_file(int directory_fd, const std::string& name,
                                                     size_t limit_bytes) {
    const auto file = read_regular_file(directory_fd, name, limit_bytes, KeptEnd::head);
    if (!file) return tl::make_unexpected(file.error());
    if (file->cut) return tl::make_unexpected("too long");
    return compress(file->bytes);
}

}  // namespace inquest::harvest
