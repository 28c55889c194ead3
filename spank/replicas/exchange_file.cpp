#include "spank/replicas/exchange_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "spank/harvest/file_access.h"
#include "spank/harvest/report_directory.h"
#include "spank/replicas/exchange_text.h"

namespace inquest::replicas {
namespace {

constexpr uint64_t kNsPerMs = 1000000U;
constexpr uint64_t kLeastIntervalNs = 1000U * kNsPerMs;
constexpr uint64_t kPerNodeNs = 10U * kNsPerMs;
constexpr size_t kMaxPendingBytes = size_t{1} << 20U;
constexpr size_t kRecentBytes = size_t{256} * 1024;
constexpr uint64_t kMaxFileBytes = uint64_t{4} << 20U;
constexpr size_t kMaxReadBytes = size_t{1} << 20U;
constexpr size_t kMaxNodes = 65536;
constexpr std::string_view kEnd = "end";

bool is_compared(const StateDigest& digest) {
    return digest.part == INQUEST_PART_PARAMETERS || digest.part == INQUEST_PART_BUFFERS ||
           digest.part == INQUEST_PART_GRADIENTS;
}

void keep_tail(std::string& text, size_t limit) {
    if (text.size() <= limit) return;
    const size_t line = text.find('\n', text.size() - limit);
    text.erase(0, line == std::string::npos ? text.size() : line + 1);
}

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = write(fd, bytes.data(), bytes.size());
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<size_t>(written));
    }
    return true;
}

/* Any other error may pass: a file server that starts anew, too many open files. */
bool is_gone(int directory_fd, const std::string& name) {
    return faccessat(directory_fd, name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

}  // namespace

uint64_t exchange_interval_ns(uint32_t node_count) {
    return std::max(kLeastIntervalNs, node_count * kPerNodeNs);
}

void ExchangeWriter::add(const ReplicaRecord& record) {
    const auto* digest = std::get_if<StateDigest>(&record.what);
    if (given_up_ || (digest != nullptr && !is_compared(*digest))) return;
    has_digest_ = has_digest_ || digest != nullptr;
    const std::string line = format_record(record);
    if (line.empty() || pending_.size() + line.size() >= kMaxPendingBytes) return;
    pending_ += line + '\n';
}

void ExchangeWriter::flush(const harvest::StepDescription& step) {
    if (given_up_ || pending_.empty() || !has_digest_) return;
    const bool is_long = written_bytes_ + pending_.size() > kMaxFileBytes;
    given_up_ = !(begun_ && !is_long ? append(step) : begin(step));
    recent_ += pending_;
    keep_tail(recent_, kRecentBytes);
    pending_.clear();
}

void ExchangeWriter::end(const harvest::StepDescription& step) {
    if (!begun_ && pending_.empty()) return;
    pending_ += std::string(kEnd) + '\n';
    flush(step);
    given_up_ = true;
}

/* Also replaces what an earlier run of a requeued job left. */
bool ExchangeWriter::begin(const harvest::StepDescription& step) {
    harvest::UniqueFd directory = harvest::open_step_digests(step);
    if (!directory.valid() && !begun_)
        if (auto made = harvest::make_step_digests(step)) directory = std::move(*made);
    if (!directory.valid()) return false;
    const std::string bytes = recent_ + pending_;
    written_bytes_ = bytes.size();
    begun_ = true;
    return harvest::write_file_atomically(directory.get(), step.node, bytes).has_value();
}

bool ExchangeWriter::append(const harvest::StepDescription& step) {
    const harvest::UniqueFd directory = harvest::open_step_digests(step);
    if (!directory.valid()) return false;
    const harvest::UniqueFd file(openat(directory.get(), step.node.c_str(),
                                        O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    written_bytes_ += pending_.size();
    return file.valid() && write_all(file.get(), pending_);
}

bool ExchangeWriter::exists(const harvest::StepDescription& step) const {
    if (!begun_) return false;
    const harvest::UniqueFd directory = harvest::open_step_digests(step);
    return directory.valid() ? !is_gone(directory.get(), step.node) : errno != ENOENT;
}

bool ExchangeReader::poll(const harvest::StepDescription& step, Look look,
                          const std::function<bool()>& has_time, const Take& take) {
    const harvest::UniqueFd directory = harvest::open_step_digests(step);
    is_unreadable_ = !directory.valid() && errno != ENOENT;
    if (is_unreadable_) return next_name_ >= names_.size();
    if (!directory.valid() || next_name_ >= names_.size()) begin_turn(directory.get());
    while (next_name_ < names_.size()) {
        const std::string& name = names_[next_name_++];
        if (look == Look::all || may_have_more(directory.get(), name)) poll_node(directory.get(), name, take);
        if (!has_time()) break;
    }
    return next_name_ >= names_.size();
}

/* A file that is gone has been taken away by its node, which then has ended. One whose name begins with a dot
 * is about to be renamed. */
void ExchangeReader::begin_turn(int directory_fd) {
    next_name_ = 0;
    names_.clear();
    if (directory_fd >= 0) names_ = harvest::list_directory(directory_fd, kMaxNodes);
    for (auto& [name, node] : nodes_)
        if (!std::binary_search(names_.begin(), names_.end(), name) &&
            (directory_fd < 0 || is_gone(directory_fd, name)))
            node = ended_node();
    std::erase_if(names_, [](const std::string& name) { return name.front() == '.'; });
}

bool ExchangeReader::may_have_more(int directory_fd, const std::string& name) const {
    const auto known = nodes_.find(name);
    struct stat status {};
    if (known == nodes_.end() || fstatat(directory_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
        return true;
    return known->second.inode != status.st_ino ||
           status.st_size > static_cast<off_t>(known->second.offset_bytes);
}

void ExchangeReader::poll_node(int directory_fd, const std::string& name, const Take& take) {
    const harvest::UniqueFd file = harvest::open_regular_file(directory_fd, name);
    struct stat status {};
    if (!file.valid() || fstat(file.get(), &status) != 0) return;
    if (nodes_.size() >= kMaxNodes && nodes_.count(name) == 0) return;
    Node& node = nodes_[name];
    if (node.inode != status.st_ino) node = Node{status.st_ino, 0, {}, false};
    const auto size_bytes = static_cast<uint64_t>(std::max<off_t>(status.st_size, 0));
    if (size_bytes <= node.offset_bytes) return;
    std::string bytes(std::min<uint64_t>(size_bytes - node.offset_bytes, kMaxReadBytes), '\0');
    const ssize_t count =
        pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(node.offset_bytes));
    if (count <= 0) return;
    bytes.resize(static_cast<size_t>(count));
    node.offset_bytes += static_cast<uint64_t>(count);
    take_lines(node, bytes, take);
    if (node.ended && unlinkat(directory_fd, name.c_str(), 0) == 0) node = ended_node();
}

/* Its inode may be another file's by now: that of the node's next run. */
ExchangeReader::Node ExchangeReader::ended_node() {
    return {0, 0, {}, true};
}

/* A line may have been written only half so far; one that is too long is none of ours. */
void ExchangeReader::take_lines(Node& node, const std::string& bytes, const Take& take) {
    const std::string text = node.partial_line + bytes;
    size_t begin = 0;
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
        const std::string_view line = std::string_view(text).substr(begin, end - begin);
        if (line == kEnd)
            node.ended = true;
        else if (const auto record = parse_record(line))
            take(*record);
        begin = end + 1;
    }
    node.partial_line = text.substr(begin);
    if (node.partial_line.size() > kMaxLineBytes) node.partial_line.clear();
}

bool ExchangeReader::all_ended() const {
    return !is_unreadable_ &&
           std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node.second.ended; });
}

size_t ExchangeReader::ended_nodes() const {
    return static_cast<size_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [](const auto& node) { return node.second.ended; }));
}

}  // namespace inquest::replicas
