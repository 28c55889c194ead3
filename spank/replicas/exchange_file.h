/* The files in which the nodes of a step tell each other about their replicas:
 * <report directory>/digests/<step>/<node> (docs/formats/evidence.md). Every node but the lead's writes its
 * own, the lead reads all. Runs as the user; all calls return after a few file operations. */
#ifndef INQUEST_SPANK_REPLICAS_EXCHANGE_FILE_H
#define INQUEST_SPANK_REPLICAS_EXCHANGE_FILE_H

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "spank/harvest/step_description.h"
#include "spank/replicas/replica_record.h"

namespace inquest::replicas {

/* How often it is worth while to write or look, with this many nodes on one file server. */
uint64_t exchange_interval_ns(uint32_t node_count);

/* The own node's file: append-only, and begun anew with what was written last when it gets long. Made with
 * the first digest; when somebody removes it afterwards it is not made again. */
class ExchangeWriter {
 public:
    /* Keeps the record for the next flush. */
    void add(const ReplicaRecord& record);

    void flush(const harvest::StepDescription& step);

    /* The last flush: says that nothing will follow. */
    void end(const harvest::StepDescription& step);

    /* Whether the lead may still have something to read from it. */
    [[nodiscard]] bool exists(const harvest::StepDescription& step) const;

 private:
    bool begin(const harvest::StepDescription& step);
    bool append(const harvest::StepDescription& step);

    std::string pending_;
    std::string recent_; /* what a new beginning repeats */
    bool has_digest_ = false;
    bool begun_ = false;
    bool given_up_ = false;
    uint64_t written_bytes_ = 0;
};

class ExchangeReader {
 public:
    using Take = std::function<void(const ReplicaRecord&)>;

    /* Which files are opened. On a network file system opening one asks the server for its newest state
     * (nfs(5), close-to-open consistency), while its size and inode may be remembered for up to a minute. */
    enum class Look { changed, all };

    /* Takes what is new in the files of the other nodes, and away each file that has said its last. Stops
     * after the file with which `has_time` turns false, and goes on behind it the next time. True when the
     * turn is over: each file that was there at its begin has been looked at. A directory
     * that cannot be opened now says nothing, and is tried again the next time. */
    bool poll(const harvest::StepDescription& step, Look look, const std::function<bool()>& has_time,
              const Take& take);

    /* Whether each node whose file was seen has said its last, or its file is gone. Not while the directory
     * cannot be opened. */
    [[nodiscard]] bool all_ended() const;
    [[nodiscard]] size_t ended_nodes() const;

 private:
    struct Node {
        ino_t inode = 0;
        uint64_t offset_bytes = 0;
        std::string partial_line;
        bool ended = false;
    };

    static Node ended_node();
    void begin_turn(int directory_fd);
    [[nodiscard]] bool may_have_more(int directory_fd, const std::string& name) const;
    void poll_node(int directory_fd, const std::string& name, const Take& take);
    static void take_lines(Node& node, const std::string& bytes, const Take& take);

    std::vector<std::string> names_; /* of the current turn */
    size_t next_name_ = 0;
    bool is_unreadable_ = false; /* the directory, the last time */
    std::map<std::string, Node> nodes_;
};

}  // namespace inquest::replicas

#endif
