// memfd_create and file seals: glibc declares them only under _GNU_SOURCE, and fcntl is variadic.

#ifndef VITRINE_CMEMORY_SHIM_H
#define VITRINE_CMEMORY_SHIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <fcntl.h>
#include <sys/mman.h>

static const int cmemory_seal_seal = F_SEAL_SEAL;
static const int cmemory_seal_shrink = F_SEAL_SHRINK;
static const int cmemory_seal_grow = F_SEAL_GROW;
static const int cmemory_seal_write = F_SEAL_WRITE;

/// Creates an empty anonymous file in memory. It closes on exec and can be sealed.
static inline int cmemory_create(const char *name) {
    return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

static inline int cmemory_add_seals(int descriptor, int seals) {
    return fcntl(descriptor, F_ADD_SEALS, seals);
}

/// Returns the seals of a file, or -1 if it cannot have seals.
static inline int cmemory_get_seals(int descriptor) {
    return fcntl(descriptor, F_GET_SEALS);
}

#endif
