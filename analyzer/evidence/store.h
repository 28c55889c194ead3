// What was read, before it is joined: per folder, as the files lie.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/evidence/black_box_reader.h"
#include "analyzer/evidence/node_json.h"
#include "analyzer/model/timeline.h"

namespace inquest::evidence {

// The evidence of one process besides its box; a process is named by the file name "stack-<pid>-<start>.txt".
struct ProcessEvidence {
    std::optional<model::FlightRecord> flight;
    std::optional<model::PythonStack> stack;
    std::optional<model::TensorTable> table;
};

// A copy of a box that was analysed while its process ran; the last copy may hold less.
struct AnalysedBox {
    std::string source;
    std::string bytes;
};

struct FolderEvidence {
    std::optional<NodeEvidence> node;
    std::vector<BoxEvidence> boxes;
    std::map<ProcessKey, ProcessEvidence> processes;
    std::map<ProcessKey, AnalysedBox> analysed_boxes;  // until the last copy is read
    std::vector<model::FlightRecord> flights;          // whose file names name no process
    std::vector<model::PythonStack> stacks;            // likewise
    std::vector<model::LogFile> logs;

    // The folder of one node of a step, as spank/harvest writes it.
    bool is_node_folder() const { return node || !boxes.empty() || !processes.empty(); }
};

// By the folder's path relative to what was analysed; "" for inputs outside of any folder.
using Store = std::map<std::string, FolderEvidence>;

}  // namespace inquest::evidence
