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
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* More than any test's calls have. The file has no blocks for what is unused. */
#define FAULTS_MOST_TEXT (64 << 20)

/* The calls of all processes of the program, in a file that they share. The fetcher cannot open it once it is restricted, so
 * each process maps it before its own code runs. */
static struct shared {
    atomic_long count;
    /* Whether a process was killed, so that the others must end, too. */
    atomic_int is_over;
    /* The number of bytes of the text. */
    atomic_long length;
    char text[FAULTS_MOST_TEXT];
} own, *shared = &own;

/* Returns the parent of a process. */
static pid_t parent(pid_t process) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return 0;
    long length = syscall(SYS_read, descriptor, line, sizeof line - 1);
    syscall(SYS_close, descriptor);
    line[length > 0 ? length : 0] = 0;
    const char *end = strrchr(line, ')');
    return end ? atoi(end + 4) : 0;
}

static int is_fetcher(void) { return strcmp(program_invocation_short_name, "vitrine-fetcher") == 0; }

__attribute__((constructor)) static void map(void) {
    const char *log = getenv("VITRINE_FAULTS_LOG");
    if (!log) return;
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, log, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return;
    syscall(SYS_ftruncate, descriptor, (long)sizeof *shared);
    void *memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    syscall(SYS_close, descriptor);
    if (memory != MAP_FAILED) shared = memory;
    /* A fetcher that was killed could not kill the program, since it may signal no other process. The next one does it: its
     * parent is the launcher, and that one's parent is the program. */
    if (is_fetcher() && atomic_load(&shared->is_over)) {
        kill(parent(getppid()), SIGKILL);
        _exit(1);
    }
}

static void end_program(void) {
    atomic_store(&shared->is_over, 1);
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

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

static void note(long number, const char *call, const char *path) {
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%ld %s %s\n", number, call, path);
    long start = atomic_fetch_add(&shared->length, length);
    if (start + length <= FAULTS_MOST_TEXT) memcpy(shared->text + start, line, (size_t)length);
}

int vitrine_faults_hit(const char *call, const char *path) {
    if (!is_within(path) || !is_chosen(call, path)) return 0;
    /* A fetcher that was killed at its end has no successor. */
    if (!is_fetcher() && atomic_load(&shared->is_over)) end_program();
    int saved = errno;
    long this = atomic_fetch_add(&shared->count, 1) + 1;
    note(this, call, path);
    long first = number("VITRINE_FAULTS_FIRST", LONG_MAX), last = number("VITRINE_FAULTS_LAST", first);
    if (this < first || (last != 0 && this > last)) {
        errno = saved;
        return 0;
    }
    int error = (int)number("VITRINE_FAULTS_ERROR", 0);
    if (error == 0) end_program();
    errno = error;
    return 1;
}

static int find_path(int descriptor, char path[PATH_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return 1;
}

static int hit_file(const char *call, int descriptor) {
    char path[PATH_MAX];
    return find_path(descriptor, path) && vitrine_faults_hit(call, path);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list list;                                                                                                  \
        va_start(list, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                                        \
        va_end(list);                                                                                                  \
        if (flags & (O_CREAT | O_TRUNC) ? vitrine_faults_hit("open", path) : vitrine_faults_hit_reader(path)) return -1; \
        return NEXT(name)(path, flags, mode);                                                                          \
    }
OPEN(open)
OPEN(open64)

/* Simulates a folder of FAT, on request. */
static int is_fat(int folder) {
    char path[PATH_MAX];
    return getenv("VITRINE_FAULTS_FAT") && find_path(folder, path) && is_within(path);
}

static int is_refused(int folder, const char *name) { return strpbrk(name, "\\:*?\"<>|") && is_fat(folder); }

int linkat(int from, const char *path, int folder, const char *name, int flags) {
    if (is_fat(folder)) {
        errno = EPERM;
        return -1;
    }
    return NEXT(linkat)(from, path, folder, name, flags);
}

int renameat2(int from, const char *path, int folder, const char *name, unsigned int flags) {
    if (is_refused(folder, name)) {
        errno = EINVAL;
        return -1;
    }
    return NEXT(renameat2)(from, path, folder, name, flags);
}

/* Simulates a file system without unnamed files, on request. */
#define OPENAT(name)                                                                                                   \
    int name(int folder, const char *path, int flags, ...) {                                                           \
        va_list list;                                                                                                  \
        va_start(list, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                                        \
        va_end(list);                                                                                                  \
        if ((flags & O_TMPFILE) == O_TMPFILE && (getenv("VITRINE_FAULTS_NO_TMPFILE") || is_fat(folder))) {             \
            errno = EOPNOTSUPP;                                                                                        \
            return -1;                                                                                                 \
        }                                                                                                              \
        if (flags & O_CREAT && is_refused(folder, path)) {                                                             \
            errno = EINVAL;                                                                                            \
            return -1;                                                                                                 \
        }                                                                                                              \
        if (!(flags & (O_CREAT | O_TRUNC | O_TMPFILE)) && vitrine_faults_hit_reader(path)) return -1;                  \
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
