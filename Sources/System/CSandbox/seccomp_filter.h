// A seccomp filter that allows only the system calls needed for decoding.
//
// Any other call ends the process: no library makes it, so an attacker must control the decoder and gets no second
// attempt. Some calls fail with EPERM instead: those that the C library and the format libraries make without need, for
// the number of processors, a locale, a plug-in or a helper thread. They work without, and an attacker gains nothing.
//
// The filter is classic BPF: load a word of the call's description, compare it, and the first match decides ("Seccomp
// BPF", Documentation/userspace-api/seccomp_filter.rst). The kernel compiles it for each process, so it is short: one
// line per call, with the results at the end.

#ifndef VITRINE_CSANDBOX_SECCOMP_FILTER_H
#define VITRINE_CSANDBOX_SECCOMP_FILTER_H

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

/// Placeholder offsets of jumps to the three results at the end of a list. csandbox_distance replaces them when the
/// list is complete; no list is so long that an offset has these values.
#define CSANDBOX_TO_KILL 253
#define CSANDBOX_TO_ALLOW 254
#define CSANDBOX_TO_REFUSE 255

/// Loads the lower half of an argument, which comes first on both architectures. The kernel ignores the upper half of
/// the arguments compared here.
#define CSANDBOX_LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define CSANDBOX_IF(value, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise)
#define CSANDBOX_IF_ANY(bits, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, then, otherwise)

#define CSANDBOX_ALLOW(name) CSANDBOX_IF(SYS_##name, CSANDBOX_TO_ALLOW, 0)
#define CSANDBOX_REFUSE(name) CSANDBOX_IF(SYS_##name, CSANDBOX_TO_REFUSE, 0)
/// Allows a call such as mmap or mprotect, whose third argument is the protection, unless memory becomes executable.
#define CSANDBOX_ALLOW_DATA(name) \
    CSANDBOX_IF(SYS_##name, 0, 2), CSANDBOX_LOAD(args[2]), CSANDBOX_IF_ANY(PROT_EXEC, CSANDBOX_TO_KILL, CSANDBOX_TO_ALLOW)

/// The beginning of a list, which checks the architecture. Call numbers depend on the architecture, and a program can
/// use several. The calls of x32 have separate numbers, so no list allows them.
#define CSANDBOX_BEGINNING \
    CSANDBOX_LOAD(arch), CSANDBOX_IF(CSANDBOX_ARCHITECTURE, 0, CSANDBOX_TO_KILL), CSANDBOX_LOAD(nr)

/// The end of a list, with the results. By default, the kernel kills the process.
#define CSANDBOX_END \
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

// Memory, but no new executable memory.
#define CSANDBOX_MEMORY \
    CSANDBOX_ALLOW_DATA(mmap), CSANDBOX_ALLOW_DATA(mprotect), CSANDBOX_ALLOW(brk), CSANDBOX_ALLOW(munmap), \
        CSANDBOX_ALLOW(mremap), CSANDBOX_ALLOW(madvise)

// The process's three files, by descriptor. fcntl is for sealing the reply: <fcntl.h> declares F_ADD_SEALS and
// F_GET_SEALS only under _GNU_SOURCE.
#define CSANDBOX_FILES \
    CSANDBOX_ALLOW(read), CSANDBOX_ALLOW(pread64), CSANDBOX_ALLOW(readv), CSANDBOX_ALLOW(lseek), CSANDBOX_ALLOW(fstat), \
        CSANDBOX_ALLOW(write), CSANDBOX_ALLOW(pwrite64), CSANDBOX_ALLOW(writev), CSANDBOX_ALLOW(ftruncate), \
        CSANDBOX_ALLOW(close), CSANDBOX_IF(SYS_fcntl, 0, 3), CSANDBOX_LOAD(args[1]), \
        CSANDBOX_IF(1033, CSANDBOX_TO_ALLOW, 0), CSANDBOX_IF(1034, CSANDBOX_TO_ALLOW, CSANDBOX_TO_REFUSE)

// Locks, time and randomness: Swift seeds its hash tables on first use, and qsort queries the memory size. Also signals
// to itself and exit.
#define CSANDBOX_ITSELF \
    CSANDBOX_ALLOW(futex), CSANDBOX_ALLOW(sched_yield), CSANDBOX_ALLOW(clock_gettime), CSANDBOX_ALLOW(gettimeofday), \
        CSANDBOX_ALLOW(getrandom), CSANDBOX_ALLOW(restart_syscall), CSANDBOX_ALLOW(sysinfo), CSANDBOX_ALLOW(getpid), \
        CSANDBOX_ALLOW(gettid), CSANDBOX_ALLOW(rt_sigprocmask), CSANDBOX_ALLOW(rt_sigreturn), CSANDBOX_ALLOW(exit), \
        CSANDBOX_ALLOW(exit_group)

// Calls that libraries make but do not need. Without threads they work too; processes are created by the same calls.
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

// Calls of the server, and of its new processes until they are restricted themselves. The first match decides, so these
// precede the dispensable calls. clone may create no namespaces: the lower half of its flags may only contain the exit
// signal and the C library's thread-id flags.
#define CSANDBOX_SERVING \
    CSANDBOX_ALLOW(recvmsg), CSANDBOX_ALLOW(sendmsg), CSANDBOX_ALLOW(ppoll), CSANDBOX_ALLOW(wait4), CSANDBOX_ALLOW(kill), \
        CSANDBOX_ALLOW(pidfd_open), CSANDBOX_IF(SYS_clone, 0, 2), CSANDBOX_LOAD(args[0]), \
        CSANDBOX_IF_ANY(CSANDBOX_OTHER_THAN_FORK, CSANDBOX_TO_KILL, CSANDBOX_TO_ALLOW), CSANDBOX_ALLOW(set_robust_list), \
        CSANDBOX_ALLOW(getppid), CSANDBOX_ALLOW(dup3), CSANDBOX_ALLOW(close_range), CSANDBOX_ALLOW(prctl), \
        CSANDBOX_ALLOW(prlimit64), CSANDBOX_ALLOW(setrlimit), CSANDBOX_ALLOW(newfstatat), \
        CSANDBOX_ALLOW(landlock_create_ruleset), CSANDBOX_ALLOW(landlock_restrict_self), CSANDBOX_ALLOW(seccomp)
/// The clone flags that a fork does not use: all except CLONE_CHILD_SETTID, CLONE_CHILD_CLEARTID and the signal.
#define CSANDBOX_OTHER_THAN_FORK (~(0x01000000U | 0x00200000U | 0xFFU))

/// Converts a placeholder to the distance to its result. Other offsets stay unchanged.
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
    // Applies to all threads, in case a library has started one.
    return (int)syscall(SYS_seccomp, (long)SECCOMP_SET_MODE_FILTER, (long)SECCOMP_FILTER_FLAG_TSYNC, &program);
}

/// Restricts all further system calls of this process, permanently.
static inline int csandbox_build_seccomp(void) {
    struct sock_filter list[] = {
        CSANDBOX_BEGINNING, CSANDBOX_MEMORY, CSANDBOX_FILES, CSANDBOX_ITSELF, CSANDBOX_DISPENSABLE,
        CSANDBOX_OLD CSANDBOX_END,
    };
    return csandbox_filter(list, sizeof list / sizeof list[0]);
}

/// Restricts a server's system calls like csandbox_build_seccomp, but allows it to create processes. Those processes
/// apply the stricter list later. The stricter result wins, so calls that fail there must not end the process here.
static inline int csandbox_build_serving_seccomp(void) {
    struct sock_filter list[] = {
        CSANDBOX_BEGINNING, CSANDBOX_SERVING, CSANDBOX_OLD_SERVING CSANDBOX_MEMORY, CSANDBOX_FILES, CSANDBOX_ITSELF,
        CSANDBOX_DISPENSABLE, CSANDBOX_OLD CSANDBOX_END,
    };
    return csandbox_filter(list, sizeof list / sizeof list[0]);
}

#else

/// Fails, because the list does not have the call numbers of this architecture.
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
