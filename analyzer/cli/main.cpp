#include "analyzer/cli/commands.h"

int main(int argc, char** argv) {
    return inquest::cli::run(argc, argv);
}
