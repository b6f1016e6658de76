/* Calls that get something from the system: memory, libraries, files, bytes, connections, processes, threads and the time. They
 * fail only if VITRINE_FAULTS_CALL selects them. */
#define _GNU_SOURCE
#include "faults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Set before the program's own code runs, because `getenv` at each call would take longer than the calls. */
static const char *chosen = "";

__attribute__((constructor)) static void choose(void) {
    const char *call = getenv("VITRINE_FAULTS_CALL");
    if (call) chosen = call;
}

static int hit(const char *call, const char *path) {
    return strcmp(chosen, call) == 0 && vitrine_faults_hit(call, path);
}

/* Memory. Swift's runtime and ncurses end the program if they get none, so only calls of other C libraries fail. */

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static int ends_without_memory(const char *library) {
    static const char *names[] = {"swift", "dispatch", "Foundation", "BlocksRuntime", "_Concurrency", "libc.so", "ld-linux",
                                  "libstdc++", "libFaults", "libncurses", "libtinfo"};
    for (size_t index = 0; index < sizeof names / sizeof *names; index++)
        if (strstr(library, names[index])) return 1;
    return 0;
}

/* Looking the library up, and noting the call, may need memory, too. */
static int has_no_memory(void *caller) {
    static __thread int is_inside;
    if (strcmp(chosen, "malloc") != 0 || is_inside) return 0;
    is_inside = 1;
    struct dl_find_object found;
    int result = 0;
    if (_dl_find_object(caller, &found) == 0) {
        const char *library = found.dlfo_link_map->l_name;
        result = strstr(library, ".so") && !ends_without_memory(library) && hit("malloc", library);
    }
    is_inside = 0;
    return result;
}

void *malloc(size_t size) { return has_no_memory(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) {
    return has_no_memory(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    return has_no_memory(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

/* Libraries. */

void *dlopen(const char *path, int flags) {
    if (path && hit("dlopen", path[0] == '/' ? path : "/library")) path = "/nonexistent/library.so";
    return NEXT(dlopen)(path, flags);
}

/* Files that are read. The functions of faults.c ask this one for files that they do not change. */

int vitrine_faults_hit_reader(const char *path) { return path[0] == '/' && hit("read-open", path); }

FILE *fopen(const char *path, const char *mode) {
    return vitrine_faults_hit_reader(path) ? NULL : NEXT(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode) {
    return vitrine_faults_hit_reader(path) ? NULL : NEXT(fopen64)(path, mode);
}

/* Bytes. A call with the error -1 asks for half of them. Terminals and devices do not count. */

static int hit_file(const char *call, int descriptor) {
    if (strcmp(chosen, call) != 0) return 0;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strncmp(path, "/dev/", 5) != 0 && hit(call, path);
}

#define DELIVER(name, isHit, size, ...)                                                                                \
    if (isHit) {                                                                                                       \
        if (errno != -1) return -1;                                                                                    \
        if (size > 1) size = size / 2;                                                                                     \
    }                                                                                                                  \
    return NEXT(name)(__VA_ARGS__)

ssize_t read(int descriptor, void *data, size_t size) {
    DELIVER(read, hit_file("read", descriptor), size, descriptor, data, size);
}

ssize_t pread(int descriptor, void *data, size_t size, off_t place) {
    DELIVER(pread, hit_file("read", descriptor), size, descriptor, data, size, place);
}

ssize_t pread64(int descriptor, void *data, size_t size, off64_t place) {
    DELIVER(pread64, hit_file("read", descriptor), size, descriptor, data, size, place);
}

ssize_t recv(int descriptor, void *data, size_t size, int flags) {
    DELIVER(recv, hit("recv", "/socket"), size, descriptor, data, size, flags);
}

/* The entries of folders. */

struct dirent *readdir(DIR *folder) { return hit_file("readdir", dirfd(folder)) ? NULL : NEXT(readdir)(folder); }

struct dirent64 *readdir64(DIR *folder) { return hit_file("readdir", dirfd(folder)) ? NULL : NEXT(readdir64)(folder); }

/* Connections. */

int socket(int family, int kind, int protocol) {
    return hit("socket", "/socket") ? -1 : NEXT(socket)(family, kind, protocol);
}

int socketpair(int family, int kind, int protocol, int ends[2]) {
    return hit("socketpair", "/socket") ? -1 : NEXT(socketpair)(family, kind, protocol, ends);
}

int connect(int descriptor, const struct sockaddr *address, socklen_t length) {
    return hit("connect", "/socket") ? -1 : NEXT(connect)(descriptor, address, length);
}

/* Processes and threads. */

pid_t fork(void) { return hit("fork", "/process") ? -1 : NEXT(fork)(); }

#define SPAWN(name)                                                                                                    \
    int name(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *how, \
             char *const words[], char *const variables[]) {                                                           \
        return hit("fork", "/process") ? errno : NEXT(name)(process, path, actions, how, words, variables);            \
    }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*work)(void *), void *context) {
    return hit("thread", "/thread") ? errno : NEXT(pthread_create)(thread, how, work, context);
}

/* The calendar's time. The error is the number of seconds by which the clock is wrong. */

static time_t jump(void) {
    int saved = errno;
    time_t seconds = hit("clock", "/clock") ? errno : 0;
    errno = saved;
    return seconds;
}

/* The time since the machine's start. With VITRINE_FAULTS_HURRY=200, it runs 200 times as fast from the program's start,
 * and so do the timers. */

static long long hurry = 1;
static long long hurry_start;

static long long nanoseconds(const struct timespec *time) { return time->tv_sec * 1000000000LL + time->tv_nsec; }

static struct timespec time_of(long long nanoseconds) {
    return (struct timespec){nanoseconds / 1000000000, nanoseconds % 1000000000};
}

__attribute__((constructor)) static void choose_hurry(void) {
    struct timespec now;
    const char *rate = getenv("VITRINE_FAULTS_HURRY");
    if (!rate || NEXT(clock_gettime)(CLOCK_BOOTTIME, &now) != 0) return;
    hurry_start = nanoseconds(&now);
    hurry = atoll(rate);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = NEXT(clock_gettime)(clock, time);
    if (result != 0) return result;
    if (clock == CLOCK_REALTIME) time->tv_sec += jump();
    if (clock == CLOCK_BOOTTIME && hurry > 1) *time = time_of(hurry_start + (nanoseconds(time) - hurry_start) * hurry);
    return 0;
}

int timerfd_settime(int timer, int flags, const struct itimerspec *wanted, struct itimerspec *former) {
    struct itimerspec real = *wanted;
    long long until = nanoseconds(&wanted->it_value) - hurry_start;
    if (hurry > 1 && flags & TFD_TIMER_ABSTIME && until > 0) real.it_value = time_of(hurry_start + until / hurry);
    return NEXT(timerfd_settime)(timer, flags, &real, former);
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    int result = NEXT(gettimeofday)(time, zone);
    if (result == 0) time->tv_sec += jump();
    return result;
}

time_t time(time_t *result) {
    time_t now = NEXT(time)(NULL) + jump();
    if (result) *result = now;
    return now;
}
