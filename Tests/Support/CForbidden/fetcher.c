#define _GNU_SOURCE
#include "attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A path below the folder; valid until the next but one call. */
static const char *below(const char *folder, const char *name) {
    static char paths[2][4096];
    static int next;
    next = !next;
    snprintf(paths[next], sizeof paths[next], "%s/%s", folder, name);
    return paths[next];
}

static long opened(const char *path, int flags) { return syscall(SYS_openat, AT_FDCWD, path, flags, 0600); }

static long reading_outside(const char *folder) { return opened(below(folder, "secret"), O_RDONLY); }

static long listing_outside(const char *folder) { return opened(folder, O_RDONLY | O_DIRECTORY); }

static long writing_outside(const char *folder) { return opened(below(folder, "secret"), O_WRONLY); }

static long creating_outside(const char *folder) {
    return opened(below(folder, "created"), O_WRONLY | O_CREAT | O_EXCL);
}

static long truncating_outside(const char *folder) { return syscall(SYS_truncate, below(folder, "secret"), 0L); }

static long writing_photo(const char *folder) { return opened(below(folder, "photos/photo"), O_WRONLY); }

static long creating_photo(const char *folder) {
    return opened(below(folder, "photos/created"), O_WRONLY | O_CREAT | O_EXCL);
}

static long removing_photo(const char *folder) {
    return syscall(SYS_unlinkat, AT_FDCWD, below(folder, "photos/photo"), 0);
}

static long moving_out(const char *folder) {
    return syscall(SYS_renameat2, AT_FDCWD, below(folder, "cache/file"), AT_FDCWD, below(folder, "moved"), 0);
}

static long linking_in(const char *folder) {
    return syscall(SYS_linkat, AT_FDCWD, below(folder, "secret"), AT_FDCWD, below(folder, "cache/secret"), 0);
}

static long making_pipe(const char *folder) {
    return syscall(SYS_mknodat, AT_FDCWD, below(folder, "cache/pipe"), S_IFIFO | 0600, 0);
}

static long making_link(const char *folder) {
    return syscall(SYS_symlinkat, below(folder, "secret"), AT_FDCWD, below(folder, "cache/link"));
}

static long changing_mode(const char *folder) {
    return syscall(SYS_fchmodat, AT_FDCWD, below(folder, "secret"), 0666);
}

static long changing_times(const char *folder) {
    return syscall(SYS_utimensat, AT_FDCWD, below(folder, "secret"), NULL, 0);
}

/* A compromised fetcher may change no permissions, not even through a file that it may read. */
static long changing_mode_open(const char *folder) {
    long photo = opened(below(folder, "photos/photo"), O_RDONLY);
    return photo < 0 ? photo : syscall(SYS_fchmod, photo, 0666L);
}

static long changing_owner_open(const char *folder) {
    long photo = opened(below(folder, "photos/photo"), O_RDONLY);
    return photo < 0 ? photo : syscall(SYS_fchown, photo, -1L, (long)getegid());
}

static long executing(const char *folder) {
    const char *program = below(folder, "program");
    char *const arguments[] = {(char *)program, NULL}, *const environment[] = {NULL};
    return syscall(SYS_execve, program, arguments, environment);
}

static long executing_at(const char *folder) {
    const char *program = below(folder, "program");
    char *const arguments[] = {(char *)program, NULL}, *const environment[] = {NULL};
    return syscall(SYS_execveat, AT_FDCWD, program, arguments, environment, 0);
}

static long opening_memory(const char *folder) {
    (void)folder;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)child);
    return opened(path, O_RDONLY);
}

/* Ignored by default. */
static long signalling(const char *folder) {
    (void)folder;
    return syscall(SYS_kill, (long)child, (long)SIGWINCH);
}

static long signalling_thread(const char *folder) {
    (void)folder;
    return syscall(SYS_tgkill, (long)child, (long)child, (long)SIGWINCH);
}

static long signalling_by_descriptor(const char *folder) {
    (void)folder;
    return syscall(SYS_fcntl, (long)tcp_listener, (long)F_SETOWN, (long)child);
}

static long limiting(const char *folder) {
    (void)folder;
    struct rlimit former;
    return syscall(SYS_prlimit64, (long)child, (long)RLIMIT_CPU, NULL, &former);
}

static long taking_descriptor(const char *folder) {
    (void)folder;
    long process = syscall(SYS_pidfd_open, (long)child, 0L);
    return process < 0 ? process : syscall(SYS_pidfd_getfd, process, (long)tcp_listener, 0L);
}

static long binding(const char *folder) {
    (void)folder;
    struct sockaddr_in any = {.sin_family = AF_INET};
    int socket = (int)syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    return socket < 0 ? socket : syscall(SYS_bind, socket, &any, sizeof any);
}

/* Listening binds the socket to any port. */
static long listening(const char *folder) {
    (void)folder;
    int socket = (int)syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    return socket < 0 ? socket : syscall(SYS_listen, socket, 1);
}

static long accepting(const char *folder) {
    (void)folder;
    int other = (int)syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    if (other < 0 || syscall(SYS_connect, other, &tcp_address, sizeof tcp_address) < 0) return -1;
    /* The process outside may be faster. */
    fcntl(tcp_listener, F_SETFL, O_NONBLOCK);
    long connection = syscall(SYS_accept4, tcp_listener, NULL, NULL, 0);
    return connection < 0 && errno == EAGAIN ? 0 : connection;
}

static long socket_ip(const char *folder) {
    (void)folder;
    return syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
}

static long socket_ip6(const char *folder) {
    (void)folder;
    return syscall(SYS_socket, AF_INET6, SOCK_DGRAM, 0);
}

static long socket_raw(const char *folder) {
    (void)folder;
    return syscall(SYS_socket, AF_INET, SOCK_RAW, IPPROTO_ICMP);
}

static long socket_packet(const char *folder) {
    (void)folder;
    return syscall(SYS_socket, AF_PACKET, SOCK_DGRAM, 0);
}

static long socket_route(const char *folder) {
    (void)folder;
    return syscall(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
}

static long socket_devices(const char *folder) {
    (void)folder;
    return syscall(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
}

static long socket_local(const char *folder) {
    (void)folder;
    return syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
}

static long unsharing(const char *folder) {
    (void)folder;
    return syscall(SYS_unshare, 0x00000400L /* CLONE_FILES */);
}

/* No kernel knows this kind of file system, so nothing is mounted. */
static long mounting(const char *folder) {
    return syscall(SYS_mount, "none", folder, "vitrine-forbidden", 0L, NULL);
}

static long keys(const char *folder) {
    (void)folder;
    return syscall(SYS_keyctl, 0L /* KEYCTL_GET_KEYRING_ID */, -2L /* KEY_SPEC_PROCESS_KEYRING */, 1L);
}

static long ring(const char *folder) {
    (void)folder;
    char parameters[120] = {0};
    return syscall(SYS_io_uring_setup, 1L, parameters);
}

static long asking_personality(const char *folder) {
    (void)folder;
    return syscall(SYS_personality, 0xFFFFFFFFL);
}

static const struct attempt attempts[] = {
    {"read outside", reading_outside}, {"list outside", listing_outside}, {"write outside", writing_outside},
    {"create outside", creating_outside}, {"truncate outside", truncating_outside}, {"write a photo", writing_photo},
    {"create beside photos", creating_photo}, {"remove a photo", removing_photo}, {"move out of the cache", moving_out},
    {"link into the cache", linking_in}, {"make a pipe in the cache", making_pipe},
    {"make a link in the cache", making_link}, {"chmod", changing_mode}, {"utimensat", changing_times},
    {"fchmod, photo", changing_mode_open}, {"fchown, photo", changing_owner_open},
    {"execve a program", executing}, {"execveat", executing_at}, {"open /proc/PID/mem", opening_memory},
    {"signal", signalling}, {"tgkill", signalling_thread}, {"F_SETOWN", signalling_by_descriptor}, {"prlimit", limiting},
    {"pidfd_getfd", taking_descriptor}, {"bind", binding}, {"listen", listening}, {"accept", accepting},
    {"socket, IPv4", socket_ip}, {"socket, IPv6", socket_ip6}, {"socket, raw", socket_raw},
    {"socket, packet", socket_packet}, {"socket, NETLINK_ROUTE", socket_route}, {"socket, devices", socket_devices},
    {"socket, UNIX", socket_local}, {"unshare", unsharing}, {"mount", mounting}, {"keyctl", keys},
    {"io_uring_setup", ring}, {"personality", asking_personality},
};

const struct attempt *fetcher_attempt(const char *name) {
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        if (strcmp(attempts[i].name, name) == 0) return &attempts[i];
    }
    return needed_action(name);
}
