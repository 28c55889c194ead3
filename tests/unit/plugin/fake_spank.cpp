#include "tests/unit/plugin/fake_spank.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

FakeSpank& fake_spank() {
    static FakeSpank fake;
    return fake;
}

namespace {

constexpr auto kSuccess = static_cast<spank_err_t>(ESPANK_SUCCESS); /* a plain 0 in Slurm's header */

void keep_message(const char* format, va_list arguments) {
    char text[1024];
    std::vsnprintf(text, sizeof text, format, arguments);
    fake_spank().messages.emplace_back(text);
}

void give_environment(char*** ret_environment) {
    FakeSpank& fake = fake_spank();
    fake.environment_strings.clear();
    fake.environment_pointers.clear();
    for (const auto& [name, value] : fake.environment) {
        fake.environment_strings.push_back(std::string(name).append("=").append(value));
    }
    for (std::string& entry : fake.environment_strings) {
        fake.environment_pointers.push_back(entry.data());
    }
    fake.environment_pointers.push_back(nullptr);
    *ret_environment = fake.environment_pointers.data();
}

spank_err_t give_number(int item, uint32_t* ret_number) {
    auto found = fake_spank().numbers.find(item);
    if (found == fake_spank().numbers.end()) {
        return ESPANK_NOT_AVAIL;
    }
    *ret_number = found->second;
    return kSuccess;
}

spank_err_t give_item(spank_item_t item, va_list arguments) {
    switch (item) {
        case S_JOB_ENV:
            give_environment(va_arg(arguments, char***));
            return kSuccess;
        case S_JOB_SUPPLEMENTARY_GIDS:
            *va_arg(arguments, gid_t**) = nullptr;
            *va_arg(arguments, int*) = 0;
            return kSuccess;
        case S_TASK_EXIT_STATUS:
            *va_arg(arguments, int*) = fake_spank().exit_status;
            return kSuccess;
        default:
            return give_number(item, va_arg(arguments, uint32_t*));
    }
}

}  // namespace

extern "C" {

spank_err_t spank_option_register(spank_t, struct spank_option* option) {
    fake_spank().registered.emplace_back(option->name);
    return kSuccess;
}

spank_err_t spank_get_item(spank_t, spank_item_t item, ...) {
    va_list arguments;
    va_start(arguments, item);
    spank_err_t result = give_item(item, arguments);
    va_end(arguments);
    return result;
}

spank_err_t spank_getenv(spank_t, const char* name, char* buffer, int bytes) {
    auto found = fake_spank().environment.find(name);
    if (found == fake_spank().environment.end()) {
        return ESPANK_ENV_NOEXIST;
    }
    int needed = std::snprintf(buffer, static_cast<size_t>(bytes), "%s", found->second.c_str());
    return needed < bytes ? kSuccess : ESPANK_NOSPACE;
}

spank_err_t spank_setenv(spank_t, const char* name, const char* value, int) {
    fake_spank().environment[name] = value;
    return kSuccess;
}

spank_err_t spank_unsetenv(spank_t, const char* name) {
    fake_spank().environment.erase(name);
    return kSuccess;
}

#define INQUEST_FAKE_LOG(function)           \
    void function(const char* format, ...) { \
        va_list arguments;                   \
        va_start(arguments, format);         \
        keep_message(format, arguments);     \
        va_end(arguments);                   \
    }

INQUEST_FAKE_LOG(slurm_info)
INQUEST_FAKE_LOG(slurm_error)
INQUEST_FAKE_LOG(slurm_verbose)

}  // extern "C"
