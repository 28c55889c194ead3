// Whether the installation on this machine is in order: the checks of `inquest doctor`.
#pragma once
#include <string>
#include <vector>

namespace inquest::cli {

enum class Verdict { kGood, kNote, kBad };

// One line for people.
struct Health {
    Verdict verdict = Verdict::kGood;
    std::string part;
    std::string text;  // what is so, and what to do next unless all is good
};

// The installed files of the plugin, the library, the hook and the programs.
std::vector<Health> check_installed_parts();

// What inquest-launch says about the site's configuration.
std::vector<Health> check_configuration(const std::string& launch_path);

// Whether inquestd listens on this machine.
Health check_daemon(const std::string& socket_path);

// Whether Slurm's plugstack.conf loads the plugin. `path` empty: where Slurm says it is, else /etc/slurm.
Health check_plugstack(const std::string& path);

}  // namespace inquest::cli
