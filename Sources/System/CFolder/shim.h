// syncfs: glibc declares it for _GNU_SOURCE only.

#ifndef VITRINE_CFOLDER_SHIM_H
#define VITRINE_CFOLDER_SHIM_H

extern int syncfs(int descriptor);

/// Waits until the disk has everything that was written to the file system that a descriptor lies on.
static inline int cfolder_sync_all(int descriptor) {
    return syncfs(descriptor);
}

#endif
