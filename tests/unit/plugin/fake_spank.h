/* Stands in for Slurm: the spank_* and slurm_* functions that the plugin calls, over tables that a test
 * fills. */
#pragma once

#include <slurm/spank.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

struct FakeSpank {
    std::map<std::string, std::string> environment; /* of the step */
    std::map<int, uint32_t> numbers;                /* items that are 32-bit numbers */
    int exit_status = 0;                            /* S_TASK_EXIT_STATUS */
    std::vector<std::string> registered;            /* option names */
    std::vector<std::string> messages;              /* what the plugin told the user or the log */
    std::vector<std::string> environment_strings;   /* backs S_JOB_ENV */
    std::vector<char*> environment_pointers;
};

/* The one fake; a test assigns a new one. */
FakeSpank& fake_spank();

/* The handle is never looked at. */
inline spank_t fake_handle() {
    return nullptr;
}
