/* What a decoder that was taken over might try, in bare system calls: no library is asked first whether it would. */
#ifndef VITRINE_FORBIDDEN_H
#define VITRINE_FORBIDDEN_H

/* Makes ready what the attempts need, before the process is confined: a child outside, which listens on a TCP port and on an
 * abstract UNIX socket and can be sent signals, and sockets to reach it by, as descriptors `tcp` and `abstract`. The child
 * ends with this process. Returns 0, or an error. */
int forbidden_prepare(int tcp, int abstract);

/* Whether there is an attempt of that name. */
int forbidden_knows(const char *name);

/* Attempts it. Returns 0 if it was done, or the error that it was refused with; if the kernel ends the process instead, it
 * does not return. `path` is a file that is there and may be read, executed and removed. */
int forbidden_attempt(const char *name, const char *path);

#endif
