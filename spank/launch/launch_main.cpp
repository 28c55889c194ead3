#include <unistd.h>

#include "spank/launch/launch.h"

int main(int argc, char** argv) {
    return static_cast<int>(inquest::launch::run_launch(argc, argv, environ));
}
