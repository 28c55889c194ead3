#include "analyzer/cli/program_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

extern char** environ;

namespace inquest::cli {
namespace {

// To the end, so that the program never waits for us; what is too much is dropped.
std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = read(descriptor, buffer.data(), buffer.size())) > 0;) {
        if (text.size() < kProgramOutputMaxBytes) text.append(buffer.data(), static_cast<size_t>(got));
    }
    return text;
}

// posix_spawnp's result: 0 or an errno.
int spawn(std::vector<std::string>& words, int stdout_fd, pid_t& ret_child) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, stdout_fd, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const int result =
        posix_spawnp(&ret_child, arguments.front(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

tl::expected<ProgramOutput, std::string> run_program(std::vector<std::string> words) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return tl::unexpected(std::string(std::strerror(errno)));
    pid_t child = 0;
    const int failed = spawn(words, ends[1], child);
    close(ends[1]);
    ProgramOutput output;
    if (failed == 0) {
        output.text = read_all(ends[0]);
        output.exit_code = wait_for(child);
    }
    close(ends[0]);
    if (failed != 0) return tl::unexpected(fmt::format("{}: {}", words.front(), std::strerror(failed)));
    return output;
}

}  // namespace inquest::cli
