// The kernel's news of links and addresses: the headers are Linux's own, and its addresses are cast as C does.

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

/// A socket that becomes readable when a link or an address comes, goes or changes; -1 where that may not be asked for.
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

/// A descriptor that becomes readable once cnetlink_end was called for it; -1 if the system has none left.
static inline int cnetlink_make_end(void) { return eventfd(0, EFD_CLOEXEC); }

static inline void cnetlink_end(int over) { eventfd_write(over, 1); }

/// Waits until there is something to be taken; false when it is over, which another descriptor says by becoming readable.
static inline bool cnetlink_wait(int descriptor, int over) {
    struct pollfd descriptors[2] = {{.fd = descriptor, .events = POLLIN}, {.fd = over, .events = POLLIN}};
    while (poll(descriptors, 2, -1) < 0) {
        if (errno != EINTR) return false;
    }
    return descriptors[1].revents == 0;
}

/// Takes all that the kernel has said so far. What it is does not matter: the addresses are looked at in any case. It may
/// have said more than there was room for (ENOBUFS), which is an error and news all the same.
static inline void cnetlink_drain(int descriptor) {
    char buffer[8192];
    for (int tries = 0; tries < 10000; tries++) {
        ssize_t count = recv(descriptor, buffer, sizeof buffer, MSG_DONTWAIT);
        if (count < 0 && errno != ENOBUFS && errno != EINTR) return;
    }
}

#endif
