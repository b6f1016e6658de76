// The kernel's news of links and addresses: the headers are Linux's own, and its addresses are cast as C does.

#ifndef VITRINE_CNETLINK_SHIM_H
#define VITRINE_CNETLINK_SHIM_H

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
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
