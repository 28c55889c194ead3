#include "spank/launch/site_configuration.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "spank/launch/configuration_files.h"
#include "spank/launch/printable.h"
#include "spank/launch/site_keys.h"
#include "spank/launch/small_file.h"

namespace inquest::launch {
namespace {

/* Applies the entries of one file and notes what has no effect. */
class FileReader {
 public:
    FileReader(const std::string& file, SiteReading& reading) : file_(file), reading_(reading) {}

    void apply(const YAML::Node& document) {
        if (document.IsNull()) {
            return; /* only comments */
        }
        if (!document.IsMap()) {
            note(document.Mark(), "this is no mapping: write KEY: VALUE lines");
            return;
        }
        for (const auto& entry : document) {
            apply_entry(entry.first, entry.second);
        }
    }

    void note(const YAML::Mark& mark, const std::string& message) {
        reading_.findings.push_back({file_, mark.is_null() ? 0 : mark.line + 1, message});
    }

 private:
    void apply_entry(const YAML::Node& name, const YAML::Node& value) {
        const SiteKey* key = name.IsScalar() ? find_site_key(name.Scalar()) : nullptr;
        if (key == nullptr) {
            std::string text = name.IsScalar() ? name.Scalar() : "(no text)";
            note(name.Mark(), "there is no key " + text + ": write one of " + site_key_names());
            return;
        }
        if (!seen_.insert(key->name).second) {
            note(name.Mark(), std::string(key->name) + " stands here a second time: keep one of them");
        }
        if (!key->read(value, reading_.site)) {
            note(name.Mark(), std::string(key->name) + " has an impossible value: write " + key->expected);
        }
    }

    const std::string& file_;
    SiteReading& reading_;
    std::set<std::string> seen_;
};

void apply_file(const std::string& path, SiteReading& reading) {
    auto text = read_small_file(path);
    if (text) {
        apply_site_file(path, *text, reading);
    } else {
        reading.findings.push_back({path, 0, text.error()});
    }
}

}  // namespace

std::string to_text(const Finding& finding) {
    std::string line = finding.line == 0 ? "" : ":" + std::to_string(finding.line);
    std::string text = printable(finding.file + line + ": " + finding.message);
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

void apply_site_file(const std::string& file, const std::string& text, SiteReading& reading) {
    FileReader reader(file, reading);
    try {
        reader.apply(YAML::Load(text));
    } catch (const YAML::Exception& error) {
        reader.note(error.mark, "this is no YAML (" + error.msg + "): the whole file has no effect");
    }
}

SiteReading read_site_configuration(const std::string& path) {
    SiteReading reading;
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::symlink_status(path, error))) {
        apply_file(path, reading);
    }
    for (const std::string& drop_in : yaml_files_in(path + ".d")) {
        apply_file(drop_in, reading);
    }
    return reading;
}

}  // namespace inquest::launch
