// What glibc declares for _GNU_SOURCE only, or not at all: syncfs, openat2, renameat2, O_PATH and O_TMPFILE.

#ifndef VITRINE_CFOLDER_SHIM_H
#define VITRINE_CFOLDER_SHIM_H

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

extern int syncfs(int descriptor);
extern int renameat2(int from, const char *name, int to, const char *other, unsigned int flags);

// O_PATH and __O_TMPFILE have these values on every processor that Swift runs on.
#define CFOLDER_PATH 010000000
#define CFOLDER_TMPFILE (020000000 | O_DIRECTORY)

/// Waits until the disk has everything that was written to the file system that a descriptor lies on.
static inline int cfolder_sync_all(int descriptor) {
    return syncfs(descriptor);
}

/// Opens a file below a folder. The kernel resolves the path and fails with EXDEV where it leaves the folder.
static inline int cfolder_open_beneath(int folder, const char *path, int flags, int follows_links) {
    struct open_how how = {
        .flags = (unsigned long long)flags,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | (follows_links ? 0 : RESOLVE_NO_SYMLINKS),
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

/// Opens what has a name in a folder, a link included, for nothing but to be looked at and passed through.
static inline int cfolder_open_place(int folder, const char *name) {
    return openat(folder, name, CFOLDER_PATH | O_NOFOLLOW | O_CLOEXEC);
}

/// Opens a new file without a name on the file system of a folder.
static inline int cfolder_open_unnamed(int folder) {
    return openat(folder, ".", O_WRONLY | CFOLDER_TMPFILE | O_CLOEXEC, 0600);
}

/// Gives a file another name in its folder, unless something has that name.
static inline int cfolder_rename_new(int folder, const char *name, const char *other) {
    return renameat2(folder, name, folder, other, 1 /* RENAME_NOREPLACE */);
}

#endif
