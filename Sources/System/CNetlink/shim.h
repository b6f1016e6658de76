// The kernel's notifications about links and addresses. This is C because it needs Linux headers and casts of
// addresses.

#ifndef VITRINE_CNETLINK_SHIM_H
#define VITRINE_CNETLINK_SHIM_H

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/// Returns a socket that becomes readable when a link or address changes. Returns -1 if the kernel does not permit it.
static inline int cnetlink_open(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR,
    };
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    close(descriptor);
    return -1;
}

/// Returns a descriptor that becomes readable after cnetlink_end. Returns -1 if none is available.
static inline int cnetlink_make_end(void) { return eventfd(0, EFD_CLOEXEC); }

static inline void cnetlink_end(int over) { eventfd_write(over, 1); }

/// Waits for a notification. Returns false when the descriptor `over` becomes readable.
static inline bool cnetlink_wait(int descriptor, int over) {
    struct pollfd descriptors[2] = {{.fd = descriptor, .events = POLLIN}, {.fd = over, .events = POLLIN}};
    while (poll(descriptors, 2, -1) < 0) {
        if (errno != EINTR) return false;
    }
    return descriptors[1].revents == 0;
}

/// Discards all pending notifications, because the caller reads the addresses anyway. If the kernel dropped some
/// because the buffer was full (ENOBUFS), that counts as a notification too.
static inline void cnetlink_drain(int descriptor) {
    char buffer[8192];
    for (int tries = 0; tries < 10000; tries++) {
        ssize_t count = recv(descriptor, buffer, sizeof buffer, MSG_DONTWAIT);
        if (count < 0 && errno != ENOBUFS && errno != EINTR) return;
    }
}

#endif
