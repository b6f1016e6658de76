// What confines a process: prctl is variadic, and setrlimit's first argument has another type in C++ and GNU C. The kernel's
// two walls have headers of their own. And fork, which Swift keeps to itself, since few programs have one thread.

#ifndef VITRINE_CSANDBOX_SHIM_H
#define VITRINE_CSANDBOX_SHIM_H

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Declared by <unistd.h> under _DEFAULT_SOURCE, which Swift's picture of the C library is taken without.
long syscall(long number, ...);

/// Closes every descriptor but standard input, output and error, one after the other as the kernel lists them.
static inline int csandbox_close_each_but_three(void) {
    DIR *list = opendir("/proc/self/fd");
    if (list == NULL) return -1;
    struct dirent *entry;
    for (errno = 0; (entry = readdir(list)) != NULL; errno = 0) {
        // What is no number, "." and "..", counts as 0.
        int descriptor = atoi(entry->d_name);
        if (descriptor > 2 && descriptor != dirfd(list)) close(descriptor);
    }
    int is_whole = errno == 0;
    return closedir(list) == 0 && is_whole ? 0 : -1;
}

/// The same at once, where the kernel can: close_range came with Linux 5.9, and the filters of some containers do not know it.
static inline int csandbox_close_at_once_but_three(void) {
    return (int)syscall(SYS_close_range, 3U, ~0U, 0U);
}

/// Closes every descriptor but standard input, output and error.
static inline int csandbox_close_all_but_three(void) {
    return csandbox_close_at_once_but_three() == 0 ? 0 : csandbox_close_each_but_three();
}

/// Neither this process nor what it executes can ever gain privileges.
static inline int csandbox_forbid_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
}

/// The kernel kills this process when its parent ends. "The parent in this case is considered to be the thread that
/// created this process" (prctl(2)): who starts a decoder does so from a thread that stays.
static inline int csandbox_die_with_parent(void) {
    return prctl(PR_SET_PDEATHSIG, (long)SIGKILL, 0L, 0L, 0L);
}

/// A copy of this process, which has one thread. Returns 0 in the copy; it does not outlive the one that it was made by.
static inline int csandbox_fork(void) {
    pid_t parent = getpid();
    pid_t process = fork();
    if (process != 0) return process;
    // The parent may have ended before the kernel was asked to tell.
    if (csandbox_die_with_parent() != 0 || getppid() != parent) _exit(1);
    return 0;
}

/// A descriptor of a child that can be polled: it is readable when the child has ended.
static inline int csandbox_watch(int process) {
    return (int)syscall(SYS_pidfd_open, (long)process, 0L);
}

/// No core dump, and no ptrace by the user's other processes.
static inline int csandbox_forbid_inspection(void) {
    return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
}

/// Lowers the soft and the hard limit, which can never be raised again. Whoever started this process may have set lower
/// ones; those stay.
static inline int csandbox_limit(int resource, unsigned long limit) {
    struct rlimit current;
    if (getrlimit(resource, &current) != 0) return -1;
    if (current.rlim_max < limit) limit = current.rlim_max;
    struct rlimit both = {limit, limit};
    return setrlimit(resource, &both);
}

/// Whether the kernel would give this process so many bytes more. Nothing is written to them, so nothing is taken.
static inline int csandbox_can_have_memory(unsigned long length) {
    // MAP_ANONYMOUS, which <sys/mman.h> has under _DEFAULT_SOURCE.
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | 0x20, -1, 0);
    if (memory == MAP_FAILED) return 0;
    munmap(memory, length);
    return 1;
}

#include "landlock_wall.h"
#include "seccomp_wall.h"

static const int csandbox_cpu_seconds = RLIMIT_CPU;
static const int csandbox_address_space = RLIMIT_AS;
static const int csandbox_file_size = RLIMIT_FSIZE;
static const int csandbox_open_files = RLIMIT_NOFILE;
static const int csandbox_processes = RLIMIT_NPROC;
static const int csandbox_core = RLIMIT_CORE;

#endif
