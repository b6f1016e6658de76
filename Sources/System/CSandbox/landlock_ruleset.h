// A Landlock ruleset without rules: no file path is accessible.
//
// glibc has no functions for Landlock, and the kernel headers of Debian 12 lack newer features, so the numbers are
// defined here with the version that introduced each ("Landlock ABI versions", landlock(7) and the kernel's
// Documentation/userspace-api/landlock.rst).

#ifndef VITRINE_CSANDBOX_LANDLOCK_RULESET_H
#define VITRINE_CSANDBOX_LANDLOCK_RULESET_H

#include <stddef.h>
#include <stdint.h>
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

/// Forbids all operations that the version can forbid, permanently. Needs a free descriptor for a moment.
static inline int csandbox_build_landlock(int version) {
    struct csandbox_ruleset everything = csandbox_everything(version);
    long rules = syscall(SYS_landlock_create_ruleset, &everything, sizeof everything, 0L);
    if (rules < 0) return -1;
    long outcome = syscall(SYS_landlock_restrict_self, rules, 0L);
    close((int)rules);
    return (int)outcome;
}

#endif
