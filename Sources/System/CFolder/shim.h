// Functions that glibc declares only under _GNU_SOURCE or not at all: syncfs, openat2, renameat2, O_PATH and O_TMPFILE.

#ifndef VITRINE_CFOLDER_SHIM_H
#define VITRINE_CFOLDER_SHIM_H

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

extern int syncfs(int descriptor);
extern int renameat2(int from, const char *name, int to, const char *other, unsigned int flags);

// O_PATH and __O_TMPFILE have these values on all architectures that Swift supports.
#define CFOLDER_PATH 010000000
#define CFOLDER_TMPFILE (020000000 | O_DIRECTORY)

/// Syncs the file system that contains a descriptor.
static inline int cfolder_sync_all(int descriptor) {
    return syncfs(descriptor);
}

#define CFOLDER_NOTE "user.vitrine.part"

/// Writes a note beside the contents of a file.
static inline int cfolder_write_note(int descriptor, const void *bytes, size_t count) {
    return fsetxattr(descriptor, CFOLDER_NOTE, bytes, count, 0);
}

/// Reads a file's note. Returns the number of bytes; -1 on failure.
static inline long cfolder_read_note(int descriptor, void *bytes, size_t count) {
    return fgetxattr(descriptor, CFOLDER_NOTE, bytes, count);
}

/// Removes a file's note.
static inline int cfolder_remove_note(int descriptor) {
    return fremovexattr(descriptor, CFOLDER_NOTE);
}

/// Opens a file below a folder. Fails with EXDEV if the path leaves the folder.
static inline int cfolder_open_beneath(int folder, const char *path, int flags, int follows_links) {
    struct open_how how = {
        .flags = (unsigned long long)flags,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | (follows_links ? 0 : RESOLVE_NO_SYMLINKS),
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

/// Opens an entry of a folder with O_PATH, even if it is a link.
static inline int cfolder_open_place(int folder, const char *name) {
    return openat(folder, name, CFOLDER_PATH | O_NOFOLLOW | O_CLOEXEC);
}

/// Opens a new file without a name on a folder's file system.
static inline int cfolder_open_unnamed(int folder) {
    return openat(folder, ".", O_WRONLY | CFOLDER_TMPFILE | O_CLOEXEC, 0600);
}

/// Renames a file in its folder. Fails if the new name exists.
static inline int cfolder_rename_new(int folder, const char *name, const char *other) {
    return renameat2(folder, name, folder, other, 1 /* RENAME_NOREPLACE */);
}

#endif
