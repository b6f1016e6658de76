/* Attacks that a compromised decoder, fetcher or screen might try, as direct system calls without library checks; and actions
 * that the fetcher needs. */
#ifndef VITRINE_FORBIDDEN_H
#define VITRINE_FORBIDDEN_H

/* Prepares the attempts before the process is restricted: an unrestricted child that answers HTTP on a TCP port, listens on
 * an abstract UNIX socket and accepts signals, and sockets to reach it, as descriptors `tcp` and `abstract`. The child ends with this
 * process. Returns 0, or an error. */
int forbidden_prepare(int tcp, int abstract);

/* Returns the version of Landlock's interface, as the kernel states it and not Vitrine; 0 if there is no Landlock. */
int forbidden_landlock_version(void);

/* Makes a thread that stays. Returns 0, or an error. */
int forbidden_begin_thread(void);

/* Makes this process the parent of its descendants whose parents end. Returns 0, or an error. */
int forbidden_adopt_orphans(void);

/* Returns whether an attempt with that name exists. */
int forbidden_knows(const char *name);

/* Makes an attempt. Returns 0 if it succeeded, or the error; does not return if the kernel kills the process. `path` is an
 * existing file that may be read, executed and removed; for the fetcher and the screens, a folder with the entries "cache",
 * "cache/file", "photos/photo", "secret" and "program". */
int forbidden_attempt(const char *name, const char *path);

#endif
