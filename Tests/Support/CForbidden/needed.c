#define _GNU_SOURCE
#include "attempts.h"
#include "forbidden.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Fails with a number that no system call returns. */
static long wrong(int step) {
    errno = 1000 + step;
    return -1;
}

static long resolving(const char *folder) {
    (void)folder;
    struct addrinfo *list, hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    if (getaddrinfo("localhost", "80", &hints, &list) != 0) return wrong(1);
    freeaddrinfo(list);
    return 0;
}

static long connecting(const char *folder) {
    (void)folder;
    int socket_of_six = socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP), own = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
    if (own < 0 || socket_of_six < 0) return -1;
    return connect(own, (struct sockaddr *)&tcp_address, sizeof tcp_address);
}

static size_t count_bytes(const char *bytes, size_t size, size_t count, void *sum) {
    (void)bytes;
    *(size_t *)sum += size * count;
    return size * count;
}

/* Fetches from the process outside. The numbers are those of <curl/curl.h>. */
static long fetching(const char *folder) {
    (void)folder;
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return wrong(1);
    void *(*make)(void) = (void *(*)(void))dlsym(library, "curl_easy_init");
    int (*set)(void *, int, ...) = (int (*)(void *, int, ...))dlsym(library, "curl_easy_setopt");
    int (*perform)(void *) = (int (*)(void *))dlsym(library, "curl_easy_perform");
    if (make == NULL || set == NULL || perform == NULL) return wrong(2);
    void *curl = make();
    if (curl == NULL) return wrong(3);
    char address[64];
    snprintf(address, sizeof address, "http://localhost:%d/", ntohs(tcp_address.sin_port));
    size_t sum = 0;
    set(curl, 10002, address);
    set(curl, 20011, count_bytes);
    set(curl, 10001, &sum);
    int code = perform(curl);
    if (code != 0) return wrong(100 + code);
    return sum == 5 ? 0 : wrong(4);
}

static long database(const char *folder) {
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return wrong(1);
    int (*open_database)(const char *, void **) = (int (*)(const char *, void **))dlsym(library, "sqlite3_open");
    int (*run)(void *, const char *, void *, void *, void *) =
        (int (*)(void *, const char *, void *, void *, void *))dlsym(library, "sqlite3_exec");
    int (*close_database)(void *) = (int (*)(void *))dlsym(library, "sqlite3_close");
    if (open_database == NULL || run == NULL || close_database == NULL) return wrong(2);
    char path[4096];
    snprintf(path, sizeof path, "%s/cache", folder);
    /* SQLite's temporary files, which VACUUM needs. */
    setenv("SQLITE_TMPDIR", path, 1);
    snprintf(path, sizeof path, "%s/cache/gallery.sqlite", folder);
    void *handle;
    if (open_database(path, &handle) != 0) return wrong(3);
    int code = run(
        handle,
        "PRAGMA journal_mode = wal; CREATE TABLE photos (name TEXT); INSERT INTO photos VALUES ('Lake');"
        "PRAGMA wal_checkpoint(TRUNCATE); DELETE FROM photos; VACUUM;",
        NULL, NULL, NULL);
    if (code != 0) return wrong(100 + code);
    return close_database(handle) == 0 ? 0 : wrong(4);
}

/* Writes and removes a note beside a file's contents. Some file systems have none. */
static long noting(int file) {
    if (fsetxattr(file, "user.vitrine.part", "note", 4, 0) != 0) return errno == EOPNOTSUPP ? 0 : -1;
    return fremovexattr(file, "user.vitrine.part");
}

/* Every kind of change that the cache makes. */
static long keeping_files(const char *folder) {
    char path[4096], link[64];
    snprintf(path, sizeof path, "%s/cache", folder);
    int cache = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (cache < 0) return -1;
    if (mkdirat(cache, "partial", 0700) != 0 || mkdirat(cache, "photos", 0700) != 0) return -1;
    int file = openat(cache, "partial/1", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || write(file, "photo", 5) != 5 || ftruncate(file, 3) != 0) return -1;
    if (futimens(file, NULL) != 0 || fdatasync(file) != 0) return -1;
    if (noting(file) != 0) return -1;
    if (renameat(cache, "partial/1", cache, "photos/1") != 0) return -1;
    if (linkat(cache, "photos/1", cache, "partial/2", 0) != 0 || unlinkat(cache, "partial/2", 0) != 0) return -1;
    if (openat(cache, "photos/1", O_WRONLY | O_TRUNC | O_CLOEXEC) < 0 || unlinkat(cache, "photos/1", 0) != 0) return -1;
    int unnamed = openat(cache, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (unnamed >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", unnamed);
        if (linkat(AT_FDCWD, link, cache, "named", AT_SYMLINK_FOLLOW) != 0) return -1;
    } else if (errno != EOPNOTSUPP) {
        return -1;
    }
    return unlinkat(cache, "partial", AT_REMOVEDIR);
}

static long reading_photos(const char *folder) {
    char path[4096], byte;
    snprintf(path, sizeof path, "%s/photos", folder);
    int photos = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (photos < 0) return -1;
    int photo = openat(photos, "photo", O_RDONLY | O_CLOEXEC);
    if (photo < 0) return -1;
    return read(photo, &byte, 1) == 1 ? 0 : wrong(1);
}

/* The kernel reports that this process opens the photo. */
static long watching(const char *folder) {
    char path[4096], event[512];
    snprintf(path, sizeof path, "%s/photos", folder);
    int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch < 0 || inotify_add_watch(watch, path, IN_OPEN) < 0) return -1;
    snprintf(path, sizeof path, "%s/photos/photo", folder);
    if (open(path, O_RDONLY | O_CLOEXEC) < 0) return -1;
    return read(watch, event, sizeof event) > 0 ? 0 : -1;
}

static void *run_thread(void *argument) { return argument; }

static void *stay_thread(void *argument) {
    while (1) pause();
    return argument;
}

int forbidden_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L) == 0 ? 0 : errno; }

int forbidden_begin_thread(void) {
    pthread_t thread;
    return pthread_create(&thread, NULL, stay_thread, NULL);
}

static long making_threads(const char *folder) {
    (void)folder;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        int code = pthread_create(&threads[i], NULL, run_thread, NULL);
        if (code != 0) return wrong(code);
    }
    for (int i = 0; i < 4; i++) {
        if (pthread_join(threads[i], NULL) != 0) return wrong(1);
    }
    return 0;
}

static long asking_networks(const char *folder) {
    (void)folder;
    int listener = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
    struct ifaddrs *list;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0) return -1;
    if (getifaddrs(&list) != 0) return -1;
    freeifaddrs(list);
    return 0;
}

/* Ignored by default. Signal 0 asks whether the process outside exists, which a Landlock of version 6 hides. */
static long signalling_itself(const char *folder) {
    (void)folder;
    if (raise(SIGWINCH) != 0 || kill(getpid(), SIGWINCH) != 0) return -1;
    return kill(child, 0) == 0 || errno == EPERM ? 0 : -1;
}

static long asking_absent(const char *folder) {
    (void)folder;
    /* Greater than the greatest number of a process. */
    return kill(1 << 23, 0) != 0 && errno == ESRCH ? 0 : wrong(1);
}

static const struct attempt actions[] = {
    {"resolve localhost", resolving}, {"connect, both families", connecting}, {"load curl and fetch", fetching},
    {"write a database", database}, {"keep files", keeping_files}, {"read photos", reading_photos},
    {"watch photos", watching}, {"make threads", making_threads}, {"ask about networks", asking_networks},
    {"signal itself", signalling_itself}, {"ask about an ended process", asking_absent},
};

const struct attempt *needed_action(const char *name) {
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(actions[i].name, name) == 0) return &actions[i];
    }
    return NULL;
}
