// The system calls that decoding needs, and no others.
//
// What is not on the list ends the process: no library asks for it, so who does has taken the decoder over and is to have no
// second try. Some calls are refused with EPERM instead: those by which the C library and the libraries of formats look
// around without need, for the number of processors, a locale, a plug-in, a helping thread. They do without; the caller
// learns nothing and gets nothing.
//
// The program is for BPF as the kernel has had it since 1993: a word of the call's description is loaded, compared, and the
// first answer counts ("Seccomp BPF", Documentation/userspace-api/seccomp_filter.rst). The kernel translates it for each
// process anew, so it is kept short: a call takes one line, and the answers are at the end.

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

/// Where a jump leads that answers: to one of the three lines at a list's end. They are put in when the list is whole, and
/// until then stand for themselves: no list is as long.
#define CSANDBOX_TO_KILL 253
#define CSANDBOX_TO_ALLOW 254
#define CSANDBOX_TO_REFUSE 255

/// Of arguments the lower half is looked at, which comes first on both architectures; the kernel takes no more of those that
/// are compared here.
#define CSANDBOX_LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define CSANDBOX_IF(value, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise)
#define CSANDBOX_IF_ANY(bits, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, then, otherwise)

#define CSANDBOX_ALLOW(name) CSANDBOX_IF(SYS_##name, CSANDBOX_TO_ALLOW, 0)
#define CSANDBOX_REFUSE(name) CSANDBOX_IF(SYS_##name, CSANDBOX_TO_REFUSE, 0)
/// For mmap and mprotect, whose third argument says what the memory is for.
#define CSANDBOX_ALLOW_DATA(name) \
    CSANDBOX_IF(SYS_##name, 0, 2), CSANDBOX_LOAD(args[2]), CSANDBOX_IF_ANY(PROT_EXEC, CSANDBOX_TO_KILL, CSANDBOX_TO_ALLOW)

/// Numbers mean something else to another architecture: one program can make calls of several. The calls of x32 have numbers of
/// their own, and so are on no list.
#define CSANDBOX_BEGINNING \
    CSANDBOX_LOAD(arch), CSANDBOX_IF(CSANDBOX_ARCHITECTURE, 0, CSANDBOX_TO_KILL), CSANDBOX_LOAD(nr)

/// What is on no list ends the process; and then the answers that jumps lead to.
#define CSANDBOX_END \
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

// Memory, of which nothing can be executed that could not be at the start.
#define CSANDBOX_MEMORY \
    CSANDBOX_ALLOW_DATA(mmap), CSANDBOX_ALLOW_DATA(mprotect), CSANDBOX_ALLOW(brk), CSANDBOX_ALLOW(munmap), \
        CSANDBOX_ALLOW(mremap), CSANDBOX_ALLOW(madvise)

// The three files that it has, by their descriptors. fcntl is for sealing the answer: F_ADD_SEALS and F_GET_SEALS, which
// <fcntl.h> has under _GNU_SOURCE alone.
#define CSANDBOX_FILES \
    CSANDBOX_ALLOW(read), CSANDBOX_ALLOW(pread64), CSANDBOX_ALLOW(readv), CSANDBOX_ALLOW(lseek), CSANDBOX_ALLOW(fstat), \
        CSANDBOX_ALLOW(write), CSANDBOX_ALLOW(pwrite64), CSANDBOX_ALLOW(writev), CSANDBOX_ALLOW(ftruncate), \
        CSANDBOX_ALLOW(close), CSANDBOX_IF(SYS_fcntl, 0, 3), CSANDBOX_LOAD(args[1]), \
        CSANDBOX_IF(1033, CSANDBOX_TO_ALLOW, 0), CSANDBOX_IF(1034, CSANDBOX_TO_ALLOW, CSANDBOX_TO_REFUSE)

// Locks, time and chance: Swift seeds its hash tables when the first one is made. qsort asks how much memory there is. And
// itself, and its end.
#define CSANDBOX_ITSELF \
    CSANDBOX_ALLOW(futex), CSANDBOX_ALLOW(sched_yield), CSANDBOX_ALLOW(clock_gettime), CSANDBOX_ALLOW(gettimeofday), \
        CSANDBOX_ALLOW(getrandom), CSANDBOX_ALLOW(restart_syscall), CSANDBOX_ALLOW(sysinfo), CSANDBOX_ALLOW(getpid), \
        CSANDBOX_ALLOW(gettid), CSANDBOX_ALLOW(rt_sigprocmask), CSANDBOX_ALLOW(rt_sigreturn), CSANDBOX_ALLOW(exit), \
        CSANDBOX_ALLOW(exit_group)

// What libraries try, and can do without. A thread that cannot be had is done without too; a process is made by the same calls.
#define CSANDBOX_DISPENSABLE \
    CSANDBOX_REFUSE(openat), CSANDBOX_REFUSE(newfstatat), CSANDBOX_REFUSE(statx), CSANDBOX_REFUSE(faccessat), \
        CSANDBOX_REFUSE(faccessat2), CSANDBOX_REFUSE(readlinkat), CSANDBOX_REFUSE(getcwd), CSANDBOX_REFUSE(ioctl), \
        CSANDBOX_REFUSE(uname), CSANDBOX_REFUSE(prctl), CSANDBOX_REFUSE(prlimit64), CSANDBOX_REFUSE(sched_getaffinity), \
        CSANDBOX_REFUSE(clone), CSANDBOX_REFUSE(clone3)

#if defined(__x86_64__)
#define CSANDBOX_OLD \
    CSANDBOX_REFUSE(open), CSANDBOX_REFUSE(stat), CSANDBOX_REFUSE(lstat), CSANDBOX_REFUSE(access), \
        CSANDBOX_REFUSE(readlink), CSANDBOX_REFUSE(getrlimit), CSANDBOX_ALLOW(time),
#define CSANDBOX_OLD_SERVING CSANDBOX_ALLOW(poll), CSANDBOX_ALLOW(dup2), CSANDBOX_ALLOW(getrlimit),
#else
#define CSANDBOX_OLD
#define CSANDBOX_OLD_SERVING
#endif

// What a server does beside this, and the processes that it makes until they are confined themselves. The first answer counts,
// so these come before what is dispensable to others. A process made by clone gets no namespaces of its own: it is asked
// for with nothing but the signal of its end and what the C library wants to be told of it, in the lower half.
#define CSANDBOX_SERVING \
    CSANDBOX_ALLOW(recvmsg), CSANDBOX_ALLOW(sendmsg), CSANDBOX_ALLOW(ppoll), CSANDBOX_ALLOW(wait4), CSANDBOX_ALLOW(kill), \
        CSANDBOX_ALLOW(pidfd_open), CSANDBOX_IF(SYS_clone, 0, 2), CSANDBOX_LOAD(args[0]), \
        CSANDBOX_IF_ANY(CSANDBOX_OTHER_THAN_FORK, CSANDBOX_TO_KILL, CSANDBOX_TO_ALLOW), CSANDBOX_ALLOW(set_robust_list), \
        CSANDBOX_ALLOW(getppid), CSANDBOX_ALLOW(dup3), CSANDBOX_ALLOW(close_range), CSANDBOX_ALLOW(prctl), \
        CSANDBOX_ALLOW(prlimit64), CSANDBOX_ALLOW(setrlimit), CSANDBOX_ALLOW(newfstatat), \
        CSANDBOX_ALLOW(landlock_create_ruleset), CSANDBOX_ALLOW(landlock_restrict_self), CSANDBOX_ALLOW(seccomp)
/// All but CLONE_CHILD_SETTID, CLONE_CHILD_CLEARTID and the signal.
#define CSANDBOX_OTHER_THAN_FORK (~(0x01000000U | 0x00200000U | 0xFFU))

/// How far it is from a line to the answer that a jump in it leads to; others stay as they are.
static inline unsigned char csandbox_distance(unsigned char jump, size_t line, size_t count) {
    return jump < CSANDBOX_TO_KILL ? jump : (unsigned char)(count - 3 + (jump - CSANDBOX_TO_KILL) - (line + 1));
}

static inline int csandbox_filter(struct sock_filter *list, size_t count) {
    for (size_t line = 0; line < count; line++) {
        if (BPF_CLASS(list[line].code) != BPF_JMP) continue;
        list[line].jt = csandbox_distance(list[line].jt, line, count);
        list[line].jf = csandbox_distance(list[line].jf, line, count);
    }
    struct sock_fprog program = {(unsigned short)count, list};
    // For every thread, should a library have started one before.
    return (int)syscall(SYS_seccomp, (long)SECCOMP_SET_MODE_FILTER, (long)SECCOMP_FILTER_FLAG_TSYNC, &program);
}

/// Answers all further system calls of this process by the list, for good.
static inline int csandbox_build_seccomp(void) {
    struct sock_filter list[] = {
        CSANDBOX_BEGINNING, CSANDBOX_MEMORY, CSANDBOX_FILES, CSANDBOX_ITSELF, CSANDBOX_DISPENSABLE,
        CSANDBOX_OLD CSANDBOX_END,
    };
    return csandbox_filter(list, sizeof list / sizeof list[0]);
}

/// The same for a server: what it makes processes with, too. They add the list without that. The stricter answer counts, so what
/// is refused there must not end the process here.
static inline int csandbox_build_serving_seccomp(void) {
    struct sock_filter list[] = {
        CSANDBOX_BEGINNING, CSANDBOX_SERVING, CSANDBOX_OLD_SERVING CSANDBOX_MEMORY, CSANDBOX_FILES, CSANDBOX_ITSELF,
        CSANDBOX_DISPENSABLE, CSANDBOX_OLD CSANDBOX_END,
    };
    return csandbox_filter(list, sizeof list / sizeof list[0]);
}

#else

/// The list is written for the numbers of other architectures.
static inline int csandbox_build_seccomp(void) {
    errno = ENOSYS;
    return -1;
}

static inline int csandbox_build_serving_seccomp(void) {
    errno = ENOSYS;
    return -1;
}

#endif

#endif
