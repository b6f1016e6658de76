#define _GNU_SOURCE
#include "mutexes.h"

#include <dlfcn.h>
#include <stdlib.h>

/* The sanitizer must not instrument this code. */
#define UNSEEN __attribute__((disable_sanitizer_instrumentation))

/* Programs started by the tests must not load this. */
UNSEEN __attribute__((constructor)) static void stay_alone(void) {
    unsetenv("LD_PRELOAD");
}

/* The sanitizer is part of the program and not of a library, so look it up at run time. */
UNSEEN static void tell(const char *name, void *mutex) {
    void (*sanitizer)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, name);
    if (sanitizer) sanitizer(mutex);
}

UNSEEN VITRINE_SWIFT void vitrine_mutex_lock(uint32_t thread, VITRINE_SELF void *mutex) {
    VITRINE_SWIFT void (*next)(uint32_t, VITRINE_SELF void *) =
        dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    next(thread, mutex);
    tell("__tsan_acquire", mutex);
}

UNSEEN VITRINE_SWIFT void vitrine_mutex_unlock(VITRINE_SELF void *mutex) {
    VITRINE_SWIFT void (*next)(VITRINE_SELF void *) =
        dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
    tell("__tsan_release", mutex);
    next(mutex);
}
