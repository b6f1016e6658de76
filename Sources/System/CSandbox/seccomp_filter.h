// Seccomp filters: for the decoder, a list of the allowed calls; for the fetcher and the screens, of the refused ones.
//
// In the decoder, any other call ends the process: no library makes it, so an attacker must control the decoder and
// gets no second attempt. Some calls fail with EPERM instead: those that the C library and the format libraries make
// without need, for the number of processors, a locale, a plug-in or a helper thread. The libraries work without these
// calls, and an attacker gains nothing.
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
#include <netinet/in.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
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

// The lists below name the refused calls. Their processes load different libraries on each system, so no list of the
// needed calls can be complete. A refused call fails with an error, because a library may try it.

#define CSANDBOX_FAIL(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
/// Ends a list that allows everything else.
#define CSANDBOX_OPEN_END BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), CSANDBOX_END
/// Refuses calls of newer kernels, whose purpose this list cannot know. Libraries must expect older kernels, which lack
/// these calls. The newest known call is mseal. The calls of x32 have greater numbers.
#define CSANDBOX_ONLY_KNOWN BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 462, 0, 1), CSANDBOX_FAIL(ENOSYS)

// Memory and descriptors of other processes, keys, programs in the kernel, and the kernel itself. io_uring would open
// sockets and files without any of the calls that a list names.
#define CSANDBOX_INTRUSIONS \
    CSANDBOX_REFUSE(ptrace), CSANDBOX_REFUSE(process_vm_readv), CSANDBOX_REFUSE(process_vm_writev), \
        CSANDBOX_REFUSE(process_madvise), CSANDBOX_REFUSE(process_mrelease), CSANDBOX_REFUSE(kcmp), \
        CSANDBOX_REFUSE(pidfd_getfd), CSANDBOX_REFUSE(move_pages), CSANDBOX_REFUSE(migrate_pages), CSANDBOX_REFUSE(bpf), \
        CSANDBOX_REFUSE(perf_event_open), CSANDBOX_REFUSE(userfaultfd), CSANDBOX_REFUSE(io_uring_setup), \
        CSANDBOX_REFUSE(io_uring_enter), CSANDBOX_REFUSE(io_uring_register), CSANDBOX_REFUSE(add_key), \
        CSANDBOX_REFUSE(request_key), CSANDBOX_REFUSE(keyctl), CSANDBOX_REFUSE(init_module), \
        CSANDBOX_REFUSE(finit_module), CSANDBOX_REFUSE(delete_module), CSANDBOX_REFUSE(kexec_load), \
        CSANDBOX_REFUSE(kexec_file_load), CSANDBOX_REFUSE(reboot)

// Mounts, namespaces, names and clocks of the system, and shared memory and queues of System V.
#define CSANDBOX_SYSTEM \
    CSANDBOX_REFUSE(mount), CSANDBOX_REFUSE(umount2), CSANDBOX_REFUSE(pivot_root), CSANDBOX_REFUSE(chroot), \
        CSANDBOX_REFUSE(move_mount), CSANDBOX_REFUSE(open_tree), CSANDBOX_REFUSE(fsopen), CSANDBOX_REFUSE(fsconfig), \
        CSANDBOX_REFUSE(fsmount), CSANDBOX_REFUSE(fspick), CSANDBOX_REFUSE(mount_setattr), CSANDBOX_REFUSE(quotactl), \
        CSANDBOX_REFUSE(quotactl_fd), CSANDBOX_REFUSE(swapon), CSANDBOX_REFUSE(swapoff), CSANDBOX_REFUSE(setns), \
        CSANDBOX_REFUSE(unshare), CSANDBOX_REFUSE(personality), CSANDBOX_REFUSE(open_by_handle_at), \
        CSANDBOX_REFUSE(fanotify_init), CSANDBOX_REFUSE(acct), CSANDBOX_REFUSE(syslog), CSANDBOX_REFUSE(sethostname), \
        CSANDBOX_REFUSE(setdomainname), CSANDBOX_REFUSE(settimeofday), CSANDBOX_REFUSE(clock_settime), \
        CSANDBOX_REFUSE(adjtimex), CSANDBOX_REFUSE(clock_adjtime), CSANDBOX_REFUSE(vhangup), CSANDBOX_REFUSE(shmget), \
        CSANDBOX_REFUSE(shmat), CSANDBOX_REFUSE(msgget), CSANDBOX_REFUSE(semget), CSANDBOX_REFUSE(mq_open)

// Changes of a file that Landlock does not know: permissions and owner, and by path also attributes and times. The cache
// needs futimens, fsetxattr and fremovexattr for its own files. SQLite ignores a failure of fchmod and fchown. Without a
// path, utimensat changes an open file. Older kernels' Landlock does not know truncate. Call 452 is fchmodat2, which
// older headers lack.
#define CSANDBOX_FILES_UNCHANGED \
    CSANDBOX_REFUSE(fchmod), CSANDBOX_REFUSE(fchmodat), CSANDBOX_IF(452, CSANDBOX_TO_REFUSE, 0), \
        CSANDBOX_REFUSE(fchown), CSANDBOX_REFUSE(fchownat), CSANDBOX_REFUSE(truncate), CSANDBOX_REFUSE(setxattr), \
        CSANDBOX_REFUSE(lsetxattr), CSANDBOX_REFUSE(removexattr), CSANDBOX_REFUSE(lremovexattr), \
        CSANDBOX_REFUSE(mknodat), CSANDBOX_REFUSE(symlinkat), CSANDBOX_IF(SYS_utimensat, 0, 4), \
        CSANDBOX_LOAD(args[1]), CSANDBOX_IF(0, 0, CSANDBOX_TO_REFUSE), \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]) + 4), \
        CSANDBOX_IF(0, CSANDBOX_TO_ALLOW, CSANDBOX_TO_REFUSE)

// Programs and processes. The C library makes threads with clone, if there is no clone3, whose flags a filter cannot
// read. A thread creates no namespace.
#define CSANDBOX_ONLY_THREADS \
    CSANDBOX_REFUSE(execve), CSANDBOX_REFUSE(execveat), CSANDBOX_IF(SYS_clone3, 0, 1), CSANDBOX_FAIL(ENOSYS), \
        CSANDBOX_IF(SYS_clone, 0, 3), CSANDBOX_LOAD(args[0]), CSANDBOX_IF_ANY(CSANDBOX_THREAD, 0, CSANDBOX_TO_REFUSE), \
        CSANDBOX_IF_ANY(CSANDBOX_NAMESPACES, CSANDBOX_TO_REFUSE, CSANDBOX_TO_ALLOW)
/// CLONE_THREAD, which <sched.h> declares only under _GNU_SOURCE.
#define CSANDBOX_THREAD 0x00010000U
/// CLONE_NEWNS, and the flags from CLONE_NEWCGROUP to CLONE_NEWNET.
#define CSANDBOX_NAMESPACES (0x00020000U | 0x7E000000U)

// Signals to this process only. Signal 0 asks whether a process exists. fcntl and ioctl can choose another receiver of a
// descriptor's signals: F_SETOWN, F_SETSIG, F_SETOWN_EX, FIOSETOWN, SIOCSPGRP. TIOCSTI and TIOCLINUX type into a
// terminal. Limits of other processes can end these too.
#define CSANDBOX_ONLY_ITSELF(process) \
    CSANDBOX_IF(SYS_kill, 0, 4), CSANDBOX_LOAD(args[0]), CSANDBOX_IF(process, CSANDBOX_TO_ALLOW, 0), \
        CSANDBOX_LOAD(args[1]), CSANDBOX_IF(0, CSANDBOX_TO_ALLOW, CSANDBOX_TO_REFUSE), CSANDBOX_IF(SYS_tgkill, 0, 2), \
        CSANDBOX_LOAD(args[0]), CSANDBOX_IF(process, CSANDBOX_TO_ALLOW, CSANDBOX_TO_REFUSE), CSANDBOX_REFUSE(tkill), \
        CSANDBOX_REFUSE(rt_sigqueueinfo), CSANDBOX_REFUSE(rt_tgsigqueueinfo), CSANDBOX_REFUSE(pidfd_send_signal), \
        CSANDBOX_IF(SYS_prlimit64, 0, 3), CSANDBOX_LOAD(args[0]), CSANDBOX_IF(0, CSANDBOX_TO_ALLOW, 0), \
        CSANDBOX_IF(process, CSANDBOX_TO_ALLOW, CSANDBOX_TO_REFUSE), CSANDBOX_IF(SYS_fcntl, 0, 4), \
        CSANDBOX_LOAD(args[1]), CSANDBOX_IF(8, CSANDBOX_TO_REFUSE, 0), CSANDBOX_IF(10, CSANDBOX_TO_REFUSE, 0), \
        CSANDBOX_IF(15, CSANDBOX_TO_REFUSE, CSANDBOX_TO_ALLOW), CSANDBOX_IF(SYS_ioctl, 0, 5), CSANDBOX_LOAD(args[1]), \
        CSANDBOX_IF(0x8901, CSANDBOX_TO_REFUSE, 0), CSANDBOX_IF(0x8902, CSANDBOX_TO_REFUSE, 0), \
        CSANDBOX_IF(0x5412, CSANDBOX_TO_REFUSE, 0), CSANDBOX_IF(0x541C, CSANDBOX_TO_REFUSE, CSANDBOX_TO_ALLOW)

// Sockets that connect with TCP or UDP, or ask the kernel about networks (NETLINK_ROUTE), or reach services of this
// machine if `local` is CSANDBOX_TO_ALLOW. No socket listens. Jumps without a name skip lines or lead to the last line,
// which is the failure.
#define CSANDBOX_ONLY_CONNECTIONS(local) \
    CSANDBOX_REFUSE(listen), CSANDBOX_REFUSE(accept), CSANDBOX_REFUSE(accept4), CSANDBOX_IF(SYS_socket, 0, 16), \
        CSANDBOX_LOAD(args[0]), CSANDBOX_IF(AF_UNIX, local, 0), CSANDBOX_IF(AF_NETLINK, 0, 2), CSANDBOX_LOAD(args[2]), \
        CSANDBOX_IF(0, CSANDBOX_TO_ALLOW, 10), CSANDBOX_IF(AF_INET, 1, 0), CSANDBOX_IF(AF_INET6, 0, 8), \
        CSANDBOX_LOAD(args[1]), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xF), CSANDBOX_IF(SOCK_STREAM, 1, 0), \
        CSANDBOX_IF(SOCK_DGRAM, 0, 4), CSANDBOX_LOAD(args[2]), CSANDBOX_IF(0, CSANDBOX_TO_ALLOW, 0), \
        CSANDBOX_IF(IPPROTO_TCP, CSANDBOX_TO_ALLOW, 0), CSANDBOX_IF(IPPROTO_UDP, CSANDBOX_TO_ALLOW, 0), \
        CSANDBOX_FAIL(EACCES)
/// The distance from the line about local sockets to the failure.
#define CSANDBOX_LOCAL_FAILS 13

// Sockets of this machine only.
#define CSANDBOX_ONLY_LOCAL \
    CSANDBOX_IF(SYS_socket, 0, 3), CSANDBOX_LOAD(args[0]), CSANDBOX_IF(AF_UNIX, CSANDBOX_TO_ALLOW, 0), CSANDBOX_FAIL(EACCES)

#if defined(__x86_64__)
#define CSANDBOX_OLD_FETCHING \
    CSANDBOX_REFUSE(fork), CSANDBOX_REFUSE(vfork), CSANDBOX_REFUSE(chmod), CSANDBOX_REFUSE(chown), CSANDBOX_REFUSE(lchown), \
        CSANDBOX_REFUSE(utime), CSANDBOX_REFUSE(utimes), CSANDBOX_REFUSE(futimesat), CSANDBOX_REFUSE(mknod), \
        CSANDBOX_REFUSE(symlink), CSANDBOX_REFUSE(iopl), CSANDBOX_REFUSE(ioperm), CSANDBOX_REFUSE(modify_ldt),
#else
#define CSANDBOX_OLD_FETCHING
#endif

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

/// Refuses the system calls that fetching does not need, permanently.
///
/// - Parameter is_local: whether sockets may reach services of this machine.
static inline int csandbox_build_fetcher_seccomp(int is_local) {
    unsigned process = (unsigned)getpid();
    unsigned char local = is_local ? CSANDBOX_TO_ALLOW : CSANDBOX_LOCAL_FAILS;
    struct sock_filter list[] = {
        CSANDBOX_BEGINNING, CSANDBOX_ONLY_KNOWN, CSANDBOX_INTRUSIONS, CSANDBOX_SYSTEM, CSANDBOX_FILES_UNCHANGED,
        CSANDBOX_ONLY_THREADS, CSANDBOX_ONLY_ITSELF(process), CSANDBOX_ONLY_CONNECTIONS(local),
        CSANDBOX_OLD_FETCHING CSANDBOX_OPEN_END,
    };
    return csandbox_filter(list, sizeof list / sizeof list[0]);
}

/// Refuses network sockets and intrusions, permanently. Other threads may run.
static inline int csandbox_build_screens_seccomp(void) {
    struct sock_filter list[] = {
        CSANDBOX_BEGINNING, CSANDBOX_ONLY_KNOWN, CSANDBOX_ONLY_LOCAL, CSANDBOX_INTRUSIONS, CSANDBOX_OPEN_END,
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

static inline int csandbox_build_fetcher_seccomp(int is_local) {
    (void)is_local;
    errno = ENOSYS;
    return -1;
}

static inline int csandbox_build_screens_seccomp(void) {
    errno = ENOSYS;
    return -1;
}

#endif

#endif
