// Runs another program and reads what it prints.
#pragma once
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace inquest::cli {

struct ProgramOutput {
    std::string text;   // standard output, at most kProgramOutputMaxBytes
    int exit_code = 0;  // 128 and the signal when one ended it
};

constexpr size_t kProgramOutputMaxBytes = size_t{1024} * 1024;

// `words` are the program, sought in PATH unless it holds a slash, and its arguments. Standard error is
// dropped. The error says why it could not be started. Waits for its end without a limit: only for programs
// that end.
tl::expected<ProgramOutput, std::string> run_program(std::vector<std::string> words);

}  // namespace inquest::cli
