// The system calls that decoding needs, and no others.
//
// What is not on the list ends the process: no library asks for it, so who does has taken the decoder over and is to have no
// second try. Some calls are refused with EPERM instead: those by which the C library and the libraries of formats look
// around without need, for the number of processors, a locale, a plug-in, a helping thread. They do without; the caller
// learns nothing and gets nothing.
//
// The program is for BPF as the kernel has had it since 1993: a word of the call's description is loaded, compared, and the
// first answer counts ("Seccomp BPF", Documentation/userspace-api/seccomp_filter.rst).

#ifndef VITRINE_CSANDBOX_SECCOMP_WALL_H
#define VITRINE_CSANDBOX_SECCOMP_WALL_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define CSANDBOX_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CSANDBOX_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef CSANDBOX_ARCHITECTURE

/// Of arguments the lower half is looked at, which comes first on both architectures; the kernel takes no more of those that
/// are compared here.
#define CSANDBOX_LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define CSANDBOX_ANSWER(answer) BPF_STMT(BPF_RET | BPF_K, answer)
#define CSANDBOX_UNLESS(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped)

#define CSANDBOX_ALLOW(name) CSANDBOX_UNLESS(SYS_##name, 1), CSANDBOX_ANSWER(SECCOMP_RET_ALLOW)
#define CSANDBOX_REFUSE(name) CSANDBOX_UNLESS(SYS_##name, 1), CSANDBOX_ANSWER(SECCOMP_RET_ERRNO | EPERM)
/// For mmap and mprotect, whose third argument says what the memory is for.
#define CSANDBOX_ALLOW_DATA(name) \
    CSANDBOX_UNLESS(SYS_##name, 4), CSANDBOX_LOAD(args[2]), \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), CSANDBOX_ANSWER(SECCOMP_RET_KILL_PROCESS), \
        CSANDBOX_ANSWER(SECCOMP_RET_ALLOW)

/// Answers all further system calls of this process by the list, for good.
static inline int csandbox_build_seccomp(void) {
    struct sock_filter list[] = {
        // Numbers mean something else to another architecture: one program can make calls of several.
        CSANDBOX_LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CSANDBOX_ARCHITECTURE, 1, 0),
        CSANDBOX_ANSWER(SECCOMP_RET_KILL_PROCESS),
        // The calls of x32 have numbers of their own, and so are on no list.
        CSANDBOX_LOAD(nr),

        // Memory, of which nothing can be executed that could not be at the start.
        CSANDBOX_ALLOW_DATA(mmap), CSANDBOX_ALLOW_DATA(mprotect), CSANDBOX_ALLOW(brk), CSANDBOX_ALLOW(munmap),
        CSANDBOX_ALLOW(mremap), CSANDBOX_ALLOW(madvise),

        // The three files that it has, by their descriptors.
        CSANDBOX_ALLOW(read), CSANDBOX_ALLOW(pread64), CSANDBOX_ALLOW(readv), CSANDBOX_ALLOW(lseek),
        CSANDBOX_ALLOW(fstat), CSANDBOX_ALLOW(write), CSANDBOX_ALLOW(pwrite64), CSANDBOX_ALLOW(writev),
        CSANDBOX_ALLOW(ftruncate), CSANDBOX_ALLOW(close),
        // fcntl is for sealing the answer: F_ADD_SEALS and F_GET_SEALS, which <fcntl.h> has under _GNU_SOURCE alone.
        CSANDBOX_UNLESS(SYS_fcntl, 6), CSANDBOX_LOAD(args[1]), CSANDBOX_UNLESS(1033, 1),
        CSANDBOX_ANSWER(SECCOMP_RET_ALLOW), CSANDBOX_UNLESS(1034, 1), CSANDBOX_ANSWER(SECCOMP_RET_ALLOW),
        CSANDBOX_ANSWER(SECCOMP_RET_ERRNO | EPERM),

        // Locks, time and chance: Swift seeds its hash tables when the first one is made.
        CSANDBOX_ALLOW(futex), CSANDBOX_ALLOW(sched_yield), CSANDBOX_ALLOW(clock_gettime),
        CSANDBOX_ALLOW(gettimeofday), CSANDBOX_ALLOW(getrandom), CSANDBOX_ALLOW(restart_syscall),
        // qsort asks how much memory there is.
        CSANDBOX_ALLOW(sysinfo),
        // Itself, and its end.
        CSANDBOX_ALLOW(getpid), CSANDBOX_ALLOW(gettid), CSANDBOX_ALLOW(rt_sigprocmask), CSANDBOX_ALLOW(rt_sigreturn),
        CSANDBOX_ALLOW(exit), CSANDBOX_ALLOW(exit_group),

        // What libraries try, and can do without.
        CSANDBOX_REFUSE(openat), CSANDBOX_REFUSE(newfstatat), CSANDBOX_REFUSE(statx), CSANDBOX_REFUSE(faccessat),
        CSANDBOX_REFUSE(faccessat2), CSANDBOX_REFUSE(readlinkat), CSANDBOX_REFUSE(getcwd), CSANDBOX_REFUSE(ioctl),
        CSANDBOX_REFUSE(uname), CSANDBOX_REFUSE(prctl), CSANDBOX_REFUSE(prlimit64), CSANDBOX_REFUSE(sched_getaffinity),
        // A thread that cannot be had is done without; a process is made by the same calls.
        CSANDBOX_REFUSE(clone), CSANDBOX_REFUSE(clone3),
#if defined(__x86_64__)
        CSANDBOX_REFUSE(open), CSANDBOX_REFUSE(stat), CSANDBOX_REFUSE(lstat), CSANDBOX_REFUSE(access),
        CSANDBOX_REFUSE(readlink), CSANDBOX_REFUSE(getrlimit), CSANDBOX_ALLOW(time),
#endif
        CSANDBOX_ANSWER(SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof list / sizeof list[0], list};
    // For every thread, should a library have started one before.
    return (int)syscall(SYS_seccomp, (long)SECCOMP_SET_MODE_FILTER, (long)SECCOMP_FILTER_FLAG_TSYNC, &program);
}

#else

/// The list is written for the numbers of other architectures.
static inline int csandbox_build_seccomp(void) {
    errno = ENOSYS;
    return -1;
}

#endif

#endif
