#include "spank/launch/notice.h"

int main(int argc, char** argv) {
    try {
        return static_cast<int>(inquest::launch::run_notice(argc, argv));
    } catch (...) {
        return static_cast<int>(inquest::launch::ExitStatus::kFailed);
    }
}
