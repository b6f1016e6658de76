#define _GNU_SOURCE
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long count;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

static int is_within(const char *path) {
    const char *folder = getenv("VITRINE_FAULTS_FOLDER");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

/* If a test selects a function and a part of paths, other calls are not counted. */
static int is_chosen(const char *call, const char *path) {
    const char *name = getenv("VITRINE_FAULTS_CALL"), *part = getenv("VITRINE_FAULTS_PART");
    return (!name || strcmp(name, call) == 0) && (!part || strstr(path, part));
}

/* Calls the kernel directly, so that the log is not counted. */
static void note(long number, const char *call, const char *path) {
    const char *file = getenv("VITRINE_FAULTS_LOG");
    if (!file) return;
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%ld %s %s\n", number, call, path);
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor < 0) return;
    syscall(SYS_write, descriptor, line, (size_t)length);
    syscall(SYS_close, descriptor);
}

int vitrine_faults_hit(const char *call, const char *path) {
    if (!is_within(path) || !is_chosen(call, path)) return 0;
    int saved = errno;
    long this = atomic_fetch_add(&count, 1) + 1;
    note(this, call, path);
    long first = number("VITRINE_FAULTS_FIRST", LONG_MAX), last = number("VITRINE_FAULTS_LAST", first);
    if (this < first || (last != 0 && this > last)) {
        errno = saved;
        return 0;
    }
    int error = (int)number("VITRINE_FAULTS_ERROR", 0);
    if (error == 0) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    errno = error;
    return 1;
}

static int hit_file(const char *call, int descriptor) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return vitrine_faults_hit(call, path);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list list;                                                                                                  \
        va_start(list, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                                        \
        va_end(list);                                                                                                  \
        if (flags & (O_CREAT | O_TRUNC) && vitrine_faults_hit("open", path)) return -1;                                \
        return NEXT(name)(path, flags, mode);                                                                          \
    }
OPEN(open)
OPEN(open64)

/* Simulates a file system without unnamed files, on request. */
#define OPENAT(name)                                                                                                   \
    int name(int folder, const char *path, int flags, ...) {                                                           \
        va_list list;                                                                                                  \
        va_start(list, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                                        \
        va_end(list);                                                                                                  \
        if ((flags & O_TMPFILE) == O_TMPFILE && getenv("VITRINE_FAULTS_NO_TMPFILE")) {                                 \
            errno = EOPNOTSUPP;                                                                                        \
            return -1;                                                                                                 \
        }                                                                                                              \
        return NEXT(name)(folder, path, flags, mode);                                                                  \
    }
OPENAT(openat)
OPENAT(openat64)

#define ON_FILE(type, name, call, parameters, ...)                                                                     \
    type name parameters {                                                                                             \
        if (hit_file(call, descriptor)) return -1;                                                                     \
        return NEXT(name)(__VA_ARGS__);                                                                                \
    }
ON_FILE(ssize_t, write, "write", (int descriptor, const void *data, size_t size), descriptor, data, size)
ON_FILE(ssize_t, writev, "writev", (int descriptor, const struct iovec *pieces, int n), descriptor, pieces, n)
ON_FILE(ssize_t, pwrite, "pwrite", (int descriptor, const void *data, size_t size, off_t place), descriptor, data, size,
        place)
ON_FILE(ssize_t, pwrite64, "pwrite", (int descriptor, const void *data, size_t size, off64_t place), descriptor, data,
        size, place)
ON_FILE(int, fsync, "fsync", (int descriptor), descriptor)
ON_FILE(int, fdatasync, "fdatasync", (int descriptor), descriptor)
ON_FILE(int, ftruncate, "ftruncate", (int descriptor, off_t size), descriptor, size)
ON_FILE(int, ftruncate64, "ftruncate", (int descriptor, off64_t size), descriptor, size)
ON_FILE(int, fallocate, "fallocate", (int descriptor, int mode, off_t place, off_t size), descriptor, mode, place, size)
ON_FILE(int, fchmod, "fchmod", (int descriptor, mode_t mode), descriptor, mode)
ON_FILE(int, fchown, "fchown", (int descriptor, uid_t user, gid_t group), descriptor, user, group)
ON_FILE(int, futimens, "futimens", (int descriptor, const struct timespec times[2]), descriptor, times)

#define ON_PATH(name, parameters, ...)                                                                                 \
    int name parameters {                                                                                              \
        if (vitrine_faults_hit(#name, path)) return -1;                                                                \
        return NEXT(name)(__VA_ARGS__);                                                                                \
    }
ON_PATH(mkdir, (const char *path, mode_t mode), path, mode)
ON_PATH(rmdir, (const char *path), path)
ON_PATH(unlink, (const char *path), path)
ON_PATH(chmod, (const char *path, mode_t mode), path, mode)
ON_PATH(link, (const char *path, const char *other), path, other)
ON_PATH(rename, (const char *path, const char *other), path, other)
