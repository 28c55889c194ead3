// Reads one input of whatever kind into a folder's evidence.
#pragma once
#include <string>
#include <string_view>

#include "analyzer/evidence/file_source.h"
#include "analyzer/evidence/limits.h"
#include "analyzer/evidence/notes.h"
#include "analyzer/evidence/store.h"

namespace inquest::evidence {

class InputReader {
 public:
    // The arguments must outlive the reader.
    InputReader(const Limits& limits, Notes& notes) : limits_(limits), notes_(notes) {}

    // `source` names the input in notes and references. False when nothing could be used.
    bool read(FileSource& input, const std::string& source, FolderEvidence& folder);
    bool read_bytes(std::string_view bytes, const std::string& source, FolderEvidence& folder);
    // To be called when all of the folder was read. False when that added nothing.
    bool finish(FolderEvidence& folder);

 private:
    bool read_log(FileSource& input, const std::string& source, FolderEvidence& folder);
    bool read_zstd(std::string_view bytes, const std::string& source, FolderEvidence& folder);
    bool read_box(std::string_view bytes, const std::string& source, FolderEvidence& folder);
    bool read_table(std::string_view bytes, const std::string& source, FolderEvidence& folder);
    bool read_flight(std::string_view bytes, const std::string& source, FolderEvidence& folder);
    bool read_stack(std::string_view bytes, const std::string& source, FolderEvidence& folder);
    bool read_node(std::string_view bytes, const std::string& source, FolderEvidence& folder);
    bool add_log(model::LogFile log, FolderEvidence& folder);

    const Limits& limits_;
    Notes& notes_;
};

}  // namespace inquest::evidence
