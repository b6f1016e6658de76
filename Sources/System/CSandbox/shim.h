// Restrictions of a process that Swift cannot call directly: prctl is variadic, and setrlimit's first argument has a
// different type in C++ and GNU C. Landlock and seccomp have separate headers. Also fork, which Swift hides because it
// is unsafe with threads.

#ifndef VITRINE_CSANDBOX_SHIM_H
#define VITRINE_CSANDBOX_SHIM_H

// Before the others: with PATH_MAX, the C library defines realpath as it does for Swift.
#include <limits.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Makes a system call. <unistd.h> declares this function only under _DEFAULT_SOURCE, which Swift does not define.
long syscall(long number, ...);

/// Closes all descriptors except standard input, output and error, one by one from the kernel's list.
static inline int csandbox_close_each_but_three(void) {
    DIR *list = opendir("/proc/self/fd");
    if (list == NULL) return -1;
    struct dirent *entry;
    for (errno = 0; (entry = readdir(list)) != NULL; errno = 0) {
        // The entries "." and ".." convert to 0.
        int descriptor = atoi(entry->d_name);
        if (descriptor > 2 && descriptor != dirfd(list)) close(descriptor);
    }
    int is_whole = errno == 0;
    return closedir(list) == 0 && is_whole ? 0 : -1;
}

/// Closes all descriptors except standard input, output and error with close_range. This needs Linux 5.9, and some
/// containers' filters do not know it.
static inline int csandbox_close_at_once_but_three(void) {
    return (int)syscall(SYS_close_range, 3U, ~0U, 0U);
}

/// Closes all descriptors except standard input, output and error.
static inline int csandbox_close_all_but_three(void) {
    return csandbox_close_at_once_but_three() == 0 ? 0 : csandbox_close_each_but_three();
}

/// Prevents this process and its programs from gaining privileges.
static inline int csandbox_forbid_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
}

/// Makes the kernel kill this process when its parent ends. "The parent in this case is considered to be the thread
/// that created this process" (prctl(2)), so start decoders from a thread that stays.
static inline int csandbox_die_with_parent(void) {
    return prctl(PR_SET_PDEATHSIG, (long)SIGKILL, 0L, 0L, 0L);
}

/// Forks this single-threaded process. Returns 0 in the child, which ends with its parent.
static inline int csandbox_fork(void) {
    pid_t parent = getpid();
    pid_t process = fork();
    if (process != 0) return process;
    // The parent may have ended before the call above.
    if (csandbox_die_with_parent() != 0 || getppid() != parent) _exit(1);
    return 0;
}

/// Forks this single-threaded process. The child outlives its parent, in a session without a terminal.
static inline int csandbox_fork_apart(void) {
    pid_t process = fork();
    if (process == 0 && setsid() < 0) _exit(1);
    return process;
}

/// Returns whether this process has one thread. unshare(2): CLONE_THREAD "can be specified in flags if the caller is single
/// threaded […]. In this case, these flags have no effect." Containers may refuse the call; then the answer is 1.
static inline int csandbox_has_one_thread(void) {
    return syscall(SYS_unshare, 0x00010000L) == 0 || errno != EINVAL;
}

/// Returns a descriptor of a child that poll can watch. It becomes readable when the child ends.
static inline int csandbox_watch(int process) {
    return (int)syscall(SYS_pidfd_open, (long)process, 0L);
}

/// Disables core dumps, and ptrace by the user's other processes.
static inline int csandbox_forbid_inspection(void) {
    return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
}

/// Lowers a soft and hard limit permanently. Limits that are already lower stay.
static inline int csandbox_limit(int resource, unsigned long limit) {
    struct rlimit current;
    if (getrlimit(resource, &current) != 0) return -1;
    if (current.rlim_max < limit) limit = current.rlim_max;
    struct rlimit both = {limit, limit};
    return setrlimit(resource, &both);
}

/// Returns whether the kernel would grant this many more bytes. This writes nothing, so it uses no memory.
static inline int csandbox_can_have_memory(unsigned long length) {
    // <sys/mman.h> declares MAP_ANONYMOUS only under _DEFAULT_SOURCE.
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | 0x20, -1, 0);
    if (memory == MAP_FAILED) return 0;
    munmap(memory, length);
    return 1;
}

#include "landlock_ruleset.h"
#include "seccomp_filter.h"

static const int csandbox_cpu_seconds = RLIMIT_CPU;
static const int csandbox_address_space = RLIMIT_AS;
static const int csandbox_file_size = RLIMIT_FSIZE;
static const int csandbox_open_files = RLIMIT_NOFILE;
static const int csandbox_processes = RLIMIT_NPROC;
static const int csandbox_core = RLIMIT_CORE;

/// Returns a path without links, which the caller frees; NULL if nothing is there.
static inline char *csandbox_real_path(const char *path) {
    return realpath(path, NULL);
}

#endif
