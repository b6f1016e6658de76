// Landlock rulesets: the decoder's has no rules, so no file path is accessible; the fetcher's has a rule for each place.
//
// glibc has no functions for Landlock, and the kernel headers of Debian 12 lack newer features, so the numbers are
// defined here with the version that introduced each ("Landlock ABI versions", landlock(7) and the kernel's
// Documentation/userspace-api/landlock.rst).

#ifndef VITRINE_CSANDBOX_LANDLOCK_RULESET_H
#define VITRINE_CSANDBOX_LANDLOCK_RULESET_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The restricted operations. An operation without a rule is forbidden. Older kernels accept the longer structure if
/// the unknown part is zero.
struct csandbox_ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

/// Returns the version of Landlock's interface. Returns 0 if the kernel lacks Landlock or has disabled it.
static inline int csandbox_landlock_version(void) {
    // LANDLOCK_CREATE_RULESET_VERSION
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0L, 1L);
    return version > 0 ? (int)version : 0;
}

/// Returns all restrictions of a version. Before a version above seven can be used, its restrictions must be added
/// here: a kernel rejects unknown bits.
static inline struct csandbox_ruleset csandbox_everything(int version) {
    struct csandbox_ruleset everything = {0, 0, 0};
    // Executing, reading, writing, listing, creating and removing: bits 0 to 12.
    everything.files = 0x1FFF;
    // Linking and renaming between folders.
    if (version >= 2) everything.files |= 1 << 13;
    // Truncating files opened from now on; the reply file is already open.
    if (version >= 3) everything.files |= 1 << 14;
    // Binding and connecting TCP sockets.
    if (version >= 4) everything.network = 0x3;
    // ioctl on devices.
    if (version >= 5) everything.files |= 1 << 15;
    // Abstract UNIX sockets of, and signals to, processes outside.
    if (version >= 6) everything.scopes = 0x3;
    return everything;
}

/// Enforces a ruleset on this thread, permanently, and closes it. Returns 0, or -1 on failure.
static inline int csandbox_enforce_landlock(int rules) {
    long outcome = syscall(SYS_landlock_restrict_self, (long)rules, 0L);
    close(rules);
    return (int)outcome;
}

/// Forbids all operations that the version can forbid, permanently. Needs a free descriptor for a moment.
static inline int csandbox_build_landlock(int version) {
    struct csandbox_ruleset everything = csandbox_everything(version);
    long rules = syscall(SYS_landlock_create_ruleset, &everything, sizeof everything, 0L);
    return rules < 0 ? -1 : csandbox_enforce_landlock((int)rules);
}

/// Returns a ruleset that forbids everything except connecting TCP sockets; -1 on failure.
static inline int csandbox_begin_fetcher_landlock(int version) {
    struct csandbox_ruleset rules = csandbox_everything(version);
    // Binding only.
    rules.network &= 0x1;
    return (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0L);
}

/// Reading files, and listing folders.
static const uint64_t csandbox_reading = 1 << 2 | 1 << 3;
/// Reading and writing a file.
static const uint64_t csandbox_using_file = 1 << 1 | 1 << 2;
/// Reading, writing, truncating, making, renaming and removing files and folders. Not links, pipes, sockets and devices.
static const uint64_t csandbox_keeping =
    1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 13 | 1 << 14;

/// Permits operations on a file, or on everything below a folder. Returns 0, or -1 if the path cannot be opened.
///
/// The rule belongs to the file or folder that has this path now. A file that replaces it later has no rule.
static inline int csandbox_permit(int rules, int version, const char *path, uint64_t rights) {
    // O_PATH, which <fcntl.h> declares only under _GNU_SOURCE.
    int place = open(path, 010000000 | O_CLOEXEC);
    if (place < 0) return -1;
    struct stat status;
    struct {
        uint64_t rights;
        int32_t place;
    } __attribute__((packed)) rule = {rights & csandbox_everything(version).files, place};
    int outcome = fstat(place, &status);
    // The kernel rejects a folder's rights for a file. Those of a file are executing, writing, reading and truncating.
    if (outcome == 0 && !S_ISDIR(status.st_mode)) rule.rights &= 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14;
    // LANDLOCK_RULE_PATH_BENEATH
    if (outcome == 0) outcome = (int)syscall(SYS_landlock_add_rule, (long)rules, 1L, &rule, 0L);
    close(place);
    return outcome;
}

#endif
