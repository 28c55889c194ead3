#include "spank/plugin/allocator.h"

#include "spank/plugin/options.h"

int inquest_allocator_init(spank_t spank) {
    inquest_options_register(spank);
    return 0;
}
