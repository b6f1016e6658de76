/* Attempts, and the processes and sockets that forbidden_prepare makes for them. */
#ifndef VITRINE_ATTEMPTS_H
#define VITRINE_ATTEMPTS_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/types.h>

struct attempt {
    const char *name;
    /* Returns a negative number and sets errno on failure. */
    long (*attempt)(const char *path);
};

/* The process outside, and its listener, which this process has too. */
extern pid_t child;
extern int tcp_listener;
extern struct sockaddr_in tcp_address;

/* Returns an attempt of the fetcher or the screens; NULL if there is none with that name. */
const struct attempt *fetcher_attempt(const char *name);

/* Returns an action that the fetcher needs; NULL if there is none with that name. */
const struct attempt *needed_action(const char *name);

#endif
