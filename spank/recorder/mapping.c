#include "mapping.h"

#include <stdatomic.h>
#include <stddef.h>

static _Atomic(uint8_t*) mapping_base;

uint8_t* inquest_mapping(void) {
    return atomic_load_explicit(&mapping_base, memory_order_acquire);
}

void inquest_mapping_set(uint8_t* base) {
    atomic_store_explicit(&mapping_base, base, memory_order_release);
}
