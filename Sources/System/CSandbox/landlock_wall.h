// Landlock without a rule: nothing that has a name can be reached.
//
// glibc has no functions for it, and the kernel headers of Debian 12 know less of it than newer kernels do; so the numbers
// are written down here, with the version that brought each ("Landlock ABI versions", landlock(7) and the kernel's
// Documentation/userspace-api/landlock.rst).

#ifndef VITRINE_CSANDBOX_LANDLOCK_WALL_H
#define VITRINE_CSANDBOX_LANDLOCK_WALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/// What a set of rules is about; everything in it is forbidden that no rule allows. A kernel that knows less takes the longer
/// structure too, as long as what it does not know is zero.
struct csandbox_ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

/// The version of the interface; 0 where the kernel has no Landlock, or where it is not switched on.
static inline int csandbox_landlock_version(void) {
    // LANDLOCK_CREATE_RULESET_VERSION
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0L, 1L);
    return version > 0 ? (int)version : 0;
}

/// All that a version can forbid. What versions after the seventh bring is left out until it is written down here: a kernel
/// refuses a set with a bit that it does not know.
static inline struct csandbox_ruleset csandbox_everything(int version) {
    struct csandbox_ruleset everything = {0, 0, 0};
    // Executing, reading, writing, listing, making and removing: bits 0 to 12.
    everything.files = 0x1FFF;
    // Linking and renaming from one folder into another.
    if (version >= 2) everything.files |= 1 << 13;
    // Truncating, of files opened from here on: the answer's was opened before.
    if (version >= 3) everything.files |= 1 << 14;
    // Binding and connecting TCP sockets.
    if (version >= 4) everything.network = 0x3;
    // What ioctl does to devices.
    if (version >= 5) everything.files |= 1 << 15;
    // Abstract UNIX sockets, and signals, to processes outside.
    if (version >= 6) everything.scopes = 0x3;
    return everything;
}

/// Forbids everything that the version can forbid, for good. Takes a free descriptor for a moment.
static inline int csandbox_build_landlock(int version) {
    struct csandbox_ruleset everything = csandbox_everything(version);
    long rules = syscall(SYS_landlock_create_ruleset, &everything, sizeof everything, 0L);
    if (rules < 0) return -1;
    long outcome = syscall(SYS_landlock_restrict_self, rules, 0L);
    close((int)rules);
    return (int)outcome;
}

#endif
