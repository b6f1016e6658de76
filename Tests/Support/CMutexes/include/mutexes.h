/* Loaded before everything else (LD_PRELOAD), it tells the thread sanitizer of Swift's Mutex.
 *
 * A Mutex that nobody holds is taken by an atomic operation that the compiler puts in its place, and that the sanitizer sees.
 * One that is held is waited for in libswiftSynchronization, which is the toolchain's and was built without a sanitizer: what
 * happens in there, and that it puts what one thread did before what another does then, is not seen, and every value behind
 * a lock that two threads ever wanted at once is said to be a race.
 *
 * So the two functions of that library that wait, and wake who waits, are wrapped, under the names that they have there; what
 * they do is left to them. In a program without a sanitizer it does nothing.
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
