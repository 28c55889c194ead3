// Who wrote a log line, as far as prefixes of PyTorch and of launchers tell.
#pragma once
#include <optional>
#include <string_view>

namespace inquest::evidence {

struct LogPrefix {
    std::optional<int> rank;
    // "11: " could be srun --label's task number or plain text: only the whole file tells.
    std::optional<int> task_label;
};

// Known: "[rank3]:" (torch's excepthook and C++ log, behind any other prefix), "[rank=3]" (determined),
// "[Rank 3]" and "[PG ID 0 PG GUID 0(default_pg) Rank 3]" (torch; other groups number their own ranks),
// "[1,3]<stdout>:" (mpirun), "[3]<stdout>:" (horovodrun), "3: " (srun --label). Not a rank: "[default0]:"
// (torchrun's local rank), "[rank: 0]" (Lightning's local rank), "[0]" (NCCL's CUDA device), Ray's "(worker
// pid=...)".
LogPrefix parse_log_prefix(std::string_view line);

}  // namespace inquest::evidence
