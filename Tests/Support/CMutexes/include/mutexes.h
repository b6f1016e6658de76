/* Preloaded with LD_PRELOAD, this reports Swift's Mutex to the thread sanitizer.
 *
 * An uncontended Mutex is an inlined atomic operation, which the sanitizer sees. A contended one waits in
 * libswiftSynchronization, which the toolchain builds without the sanitizer. The order that this wait establishes between
 * threads is not seen, so every value behind a contended lock would be reported as a race.
 *
 * So the two functions of that library that wait and wake are wrapped, under their original names. In a program without the
 * sanitizer the wrappers only call them.
 */
#ifndef VITRINE_MUTEXES_H
#define VITRINE_MUTEXES_H

#include <stdint.h>

#define VITRINE_SWIFT __attribute__((swiftcall))
#define VITRINE_SELF __attribute__((swift_context))

/* _MutexHandle._lockSlow(_: UInt32) */
VITRINE_SWIFT void vitrine_mutex_lock(uint32_t thread, VITRINE_SELF void *mutex)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");

/* _MutexHandle._unlockSlow() */
VITRINE_SWIFT void vitrine_mutex_unlock(VITRINE_SELF void *mutex)
    __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

#endif
