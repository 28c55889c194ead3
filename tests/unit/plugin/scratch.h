/* A directory of a test's own, removed at its end, and small programs in it. */
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

class Scratch {
 public:
    Scratch() : path_(make()) {}
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { std::filesystem::remove_all(path_); }

    const std::string& path() const { return path_; }
    std::string path(const std::string& name) const { return path_ + "/" + name; }

    std::string file(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
        std::ofstream(path(name)) << text;
        return path(name);
    }

    /* A shell script. */
    std::string program(const std::string& name, const std::string& body) const {
        file(name, "#!/bin/sh\n" + body + "\n");
        chmod(path(name).c_str(), 0755);
        return path(name);
    }

 private:
    static std::string make() {
        char name[] = "/tmp/inquest-test-XXXXXX";
        return mkdtemp(name);
    }

    std::string path_;
};
