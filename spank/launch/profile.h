/* A profile: which variables of PyTorch, NCCL and Python to set, as data (configs/profiles/NAME.yaml).
 *
 *     schema: inquest-profile-1
 *     settings:
 *       - names: [TORCH_FR_BUFFER_SIZE, TORCH_NCCL_TRACE_BUFFER_SIZE]   old and new name of one setting
 *         value: "2000"
 *         why: what it is good for
 *
 * In a value `{box_dir}` stands for the step's box directory, which is there only while the step runs.
 */
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace inquest::launch {

struct ProfileSetting {
    std::vector<std::string>
        names; /* set together, or left alone together when the user has set one of them */
    std::string value;
    std::string why;
};

struct Profile {
    std::vector<ProfileSetting> settings;
};

/* Reads and checks a profile; the error says what is wrong with it. */
tl::expected<Profile, std::string> read_profile(const std::string& path);

/* The same from text. */
tl::expected<Profile, std::string> parse_profile(const std::string& text);

}  // namespace inquest::launch
