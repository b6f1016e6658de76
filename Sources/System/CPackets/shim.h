// Packets with descriptors: SCM_RIGHTS needs macros that Swift does not import. Also pipe2, which Swift does not
// declare.

#ifndef VITRINE_CPACKETS_SHIM_H
#define VITRINE_CPACKETS_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/// Makes a system call. <unistd.h> declares this function only under _DEFAULT_SOURCE, which Swift does not define.
long syscall(long number, ...);

/// The maximum number of descriptors in a packet.
#define CPACKETS_MOST_DESCRIPTORS 3

/// Creates a socket pair that preserves packets and closes on exec. Returns 0, or -1 on failure.
static inline int cpackets_socket_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

/// Creates a pipe that closes on exec. The first end is for reading. Returns 0, or -1 on failure.
static inline int cpackets_pipe(int ends[2]) {
    return (int)syscall(SYS_pipe2, ends, (long)O_CLOEXEC);
}

/// Sends a packet without blocking. Returns 0, or -1 on failure.
static inline int cpackets_send(int socket, const void *bytes, size_t length, const int *descriptors, int count) {
    // Aligned for its header.
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(CPACKETS_MOST_DESCRIPTORS * sizeof(int))];
    } control;
    struct iovec part = {(void *)bytes, length};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (count > CPACKETS_MOST_DESCRIPTORS) {
        errno = EINVAL;
        return -1;
    }
    if (count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        memcpy(CMSG_DATA(header), descriptors, (size_t)count * sizeof(int));
    }
    while (1) {
        ssize_t sent = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent >= 0) return (size_t)sent == length ? 0 : -1;
        if (errno != EINTR) return -1;
    }
}

/// Receives a packet without blocking. Returns its length, 0 at the end of the connection, or -1 on failure. A packet
/// longer than the buffer is an error. Received descriptors close on exec.
static inline long cpackets_receive(int socket, void *bytes, size_t length, int *descriptors, int *count) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(CPACKETS_MOST_DESCRIPTORS * sizeof(int))];
    } control;
    struct iovec part = {bytes, length};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    *count = 0;
    ssize_t received;
    do received = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    if (received < 0) return -1;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        // The buffer fits one header with all descriptors, so there are no others.
        *count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(descriptors, CMSG_DATA(header), (size_t)*count * sizeof(int));
    }
    if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        while (*count > 0) close(descriptors[--*count]);
        errno = EMSGSIZE;
        return -1;
    }
    return received;
}

#endif
