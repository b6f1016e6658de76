/* Attacks that a compromised decoder might try, as direct system calls without library checks. */
#ifndef VITRINE_FORBIDDEN_H
#define VITRINE_FORBIDDEN_H

/* Prepares the attempts before the process is restricted: an unrestricted child that listens on a TCP port and an abstract
 * UNIX socket and accepts signals, and sockets to reach it, as descriptors `tcp` and `abstract`. The child ends with this
 * process. Returns 0, or an error. */
int forbidden_prepare(int tcp, int abstract);

/* Returns whether an attempt with that name exists. */
int forbidden_knows(const char *name);

/* Makes an attempt. Returns 0 if it succeeded, or the error; does not return if the kernel kills the process. `path` is an
 * existing file that may be read, executed and removed. */
int forbidden_attempt(const char *name, const char *path);

#endif
