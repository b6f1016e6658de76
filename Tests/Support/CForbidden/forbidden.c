#define _GNU_SOURCE
#include "attempts.h"
#include "forbidden.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t child;
int tcp_listener;
struct sockaddr_in tcp_address = {.sin_family = AF_INET};

static int tcp_socket, abstract_socket;
static struct sockaddr_un abstract_address = {.sun_family = AF_UNIX};
static socklen_t abstract_length;

/* A variable that other processes try to read; its address is the same in the child. */
static volatile char secret = 's';

static int listens(int listener, const void *address, socklen_t length) {
    return listener >= 0 && bind(listener, address, length) == 0 && listen(listener, 1) == 0;
}

/* Answers one HTTP request. */
static void serve(int connection) {
    static const char answer[] = "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    char request[4096];
    if (read(connection, request, sizeof request) > 0 && write(connection, answer, sizeof answer - 1) < 0) _exit(1);
    close(connection);
}

/* Answers HTTP requests until the parent ends, without holding its descriptors open. It waits for a descriptor instead of a
 * signal, because Landlock forbids the end of a restricted parent to send one. */
static void stay(pid_t parent) {
    struct pollfd events[] = {
        {.fd = (int)syscall(SYS_pidfd_open, (long)parent, 0L), .events = POLLIN}, {.fd = tcp_listener, .events = POLLIN}};
    for (int standard = 0; standard < 3; standard++) close(standard);
    if (getppid() != parent || events[0].fd < 0) _exit(0);
    while (events[0].revents == 0) {
        if (poll(events, 2, -1) < 0) {
            if (errno == EINTR) continue;
            _exit(1);
        }
        if (events[1].revents & POLLIN) serve(accept(tcp_listener, NULL, NULL));
    }
    _exit(0);
}

int forbidden_prepare(int tcp, int abstract) {
    tcp_listener = socket(AF_INET, SOCK_STREAM, 0);
    int abstract_listener = socket(AF_UNIX, SOCK_STREAM, 0);
    tcp_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int length = snprintf(abstract_address.sun_path + 1, 64, "vitrine-forbidden-%d", (int)getpid());
    abstract_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    if (!listens(tcp_listener, &tcp_address, sizeof tcp_address)) return errno;
    if (!listens(abstract_listener, &abstract_address, abstract_length)) return errno;
    socklen_t size = sizeof tcp_address;
    if (getsockname(tcp_listener, (struct sockaddr *)&tcp_address, &size) != 0) return errno;
    pid_t parent = getpid();
    child = fork();
    if (child < 0) return errno;
    if (child == 0) stay(parent);
    tcp_socket = dup2(socket(AF_INET, SOCK_STREAM, 0), tcp);
    abstract_socket = dup2(socket(AF_UNIX, SOCK_STREAM, 0), abstract);
    return tcp_socket == tcp && abstract_socket == abstract ? 0 : errno;
}

int forbidden_landlock_version(void) {
    /* LANDLOCK_CREATE_RULESET_VERSION */
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0L, 1L);
    return version > 0 ? (int)version : 0;
}

static long by_open(const char *path) {
#ifdef SYS_open
    return syscall(SYS_open, path, O_RDONLY);
#else
    return syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
#endif
}

static long by_openat(const char *path) { return syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0); }

static long by_openat2(const char *path) {
    uint64_t how[3] = {O_RDONLY, 0, 0};
    return syscall(SYS_openat2, AT_FDCWD, path, how, sizeof how);
}

static long by_creating(const char *path) {
    char beside[512];
    snprintf(beside, sizeof beside, "%s-beside", path);
    return syscall(SYS_openat, AT_FDCWD, beside, O_WRONLY | O_CREAT | O_EXCL, 0600);
}

static long by_truncate(const char *path) { return syscall(SYS_truncate, path, 1L); }

static long by_unlink(const char *path) { return syscall(SYS_unlinkat, AT_FDCWD, path, 0); }

static long by_stat(const char *path) {
    char buffer[512];
    return syscall(SYS_newfstatat, AT_FDCWD, path, buffer, 0);
}

static long by_chmod(const char *path) { return syscall(SYS_fchmodat, AT_FDCWD, path, 0700); }

static long by_tcp(const char *path) {
    (void)path;
    return syscall(SYS_connect, tcp_socket, &tcp_address, sizeof tcp_address);
}

static long by_abstract(const char *path) {
    (void)path;
    return syscall(SYS_connect, abstract_socket, &abstract_address, abstract_length);
}

static long by_socket(const char *path) {
    (void)path;
    return syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
}

static long by_execve(const char *path) {
    char *const arguments[] = {(char *)path, NULL}, *const environment[] = {NULL};
    return syscall(SYS_execve, path, arguments, environment);
}

static long by_fork(const char *path) {
    (void)path;
#ifdef SYS_fork
    long process = syscall(SYS_fork);
#else
    long process = syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
#endif
    if (process == 0) _exit(0);
    return process;
}

static long by_clone(const char *path) {
    (void)path;
    long process = syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
    if (process == 0) _exit(0);
    return process;
}

static long by_clone3(const char *path) {
    (void)path;
    uint64_t arguments[8] = {[4] = SIGCHLD};
    long process = syscall(SYS_clone3, arguments, sizeof arguments);
    if (process == 0) _exit(0);
    return process;
}

/* Seizing does not stop the child and ends with this process. */
static long by_ptrace(const char *path) {
    (void)path;
    return syscall(SYS_ptrace, (long)PTRACE_SEIZE, (long)child, 0L, 0L);
}

static long by_reading_memory(const char *path) {
    (void)path;
    char copy;
    struct iovec here = {&copy, 1}, there = {(void *)&secret, 1};
    return syscall(SYS_process_vm_readv, (long)child, &here, 1L, &there, 1L, 0L);
}

/* The null signal: "error checking is performed but no signal is actually sent" (kill(3p)). */
static long by_kill(const char *path) {
    (void)path;
    return syscall(SYS_kill, (long)child, 0L);
}

static long by_mmap(const char *path) {
    (void)path;
    return syscall(SYS_mmap, 0L, 4096L, (long)(PROT_READ | PROT_EXEC), (long)(MAP_PRIVATE | MAP_ANONYMOUS), -1L, 0L) == -1
        ? -1 : 0;
}

static long by_mprotect(const char *path) {
    (void)path;
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return syscall(SYS_mprotect, memory, 4096L, (long)(PROT_READ | PROT_EXEC));
}

static long by_memfd(const char *path) {
    (void)path;
    return syscall(SYS_memfd_create, "forbidden", 0L);
}

static const struct attempt attempts[] = {
    {"open", by_open}, {"openat", by_openat}, {"openat2", by_openat2}, {"openat, creating", by_creating},
    {"truncate", by_truncate}, {"unlinkat", by_unlink}, {"newfstatat", by_stat}, {"fchmodat", by_chmod},
    {"connect, TCP", by_tcp}, {"connect, abstract", by_abstract}, {"socket", by_socket}, {"execve", by_execve},
    {"fork", by_fork}, {"clone", by_clone}, {"clone3", by_clone3}, {"ptrace", by_ptrace},
    {"process_vm_readv", by_reading_memory}, {"kill", by_kill}, {"mmap, executable", by_mmap},
    {"mprotect, executable", by_mprotect}, {"memfd_create", by_memfd},
};

static const struct attempt *found(const char *name) {
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        if (strcmp(attempts[i].name, name) == 0) return &attempts[i];
    }
    return fetcher_attempt(name);
}

int forbidden_knows(const char *name) { return found(name) != NULL; }

int forbidden_attempt(const char *name, const char *path) {
    const struct attempt *attempt = found(name);
    if (attempt == NULL) return EINVAL;
    return attempt->attempt(path) < 0 ? errno : 0;
}
