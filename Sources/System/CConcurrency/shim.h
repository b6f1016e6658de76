// Thread names, capabilities, shared memory, urgent data of descriptors, timers that run during suspend, and the hooks of
// Swift's runtime for running unassigned tasks.
//
// The hooks are declared in the runtime's Concurrency.h: "A hook to take over global enqueuing." They use Swift's
// calling convention, which Swift code can neither declare nor implement.

#ifndef VITRINE_CCONCURRENCY_SHIM_H
#define VITRINE_CCONCURRENCY_SHIM_H

#include <linux/capability.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>

/// Makes a system call. <unistd.h> declares this function only under _DEFAULT_SOURCE, which Swift does not define.
long syscall(long number, ...);

/// Sets this thread's name, up to 15 bytes.
static inline void cconcurrency_name_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

/// Makes the allocator map each allocation of at least this size separately.
static inline void cconcurrency_map_from(int size) {
    mallopt(M_MMAP_THRESHOLD, size);
}

/// Returns a descriptor that is readable while a watched descriptor has urgent data.
static inline int cconcurrency_make_poll(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}

/// Watches a descriptor, and reports each of its events once. Returns whether the system can watch it.
static inline bool cconcurrency_poll_urgent(int poll, int descriptor) {
    struct epoll_event event = {.events = EPOLLPRI | EPOLLET};
    return epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

/// Takes all events, so that the watching descriptor is no longer readable.
static inline void cconcurrency_take_urgent(int poll) {
    struct epoll_event event;
    while (epoll_wait(poll, &event, 1, 0) > 0) {
    }
}

/// Gives up the capabilities of this thread except CAP_DAC_OVERRIDE, also for threads and programs that it starts
/// later. Returns 1 on success, 0 if the thread had no other capabilities, or -1 if the system refuses.
static inline int cconcurrency_drop_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}, {0, 0, 0}};
    if (syscall(SYS_capget, &header, held) != 0) return -1;
    const unsigned int kept[_LINUX_CAPABILITY_U32S_3] = {1U << CAP_DAC_OVERRIDE, 0};
    unsigned int others = 0;
    for (int half = 0; half < _LINUX_CAPABILITY_U32S_3; half++) {
        others |= (held[half].permitted | held[half].inheritable) & ~kept[half];
        held[half].permitted &= kept[half];
        held[half].effective &= kept[half];
        held[half].inheritable &= kept[half];
    }
    if (others == 0) return 0;
    // A program that root starts gets its capabilities back from the bounding set. Emptying the set needs CAP_SETPCAP.
    int is_whole = 1;
    for (unsigned long number = 0; prctl(PR_CAPBSET_READ, number, 0L, 0L, 0L) >= 0; number++) {
        if (number != CAP_DAC_OVERRIDE && prctl(PR_CAPBSET_DROP, number, 0L, 0L, 0L) != 0) is_whole = 0;
    }
    // Ambient capabilities go with the permitted ones.
    if (syscall(SYS_capset, &header, held) != 0) return -1;
    // If the bounding set keeps a capability, only this keeps programs that root starts from getting it back.
    if (!is_whole && prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) != 0) return -1;
    return 1;
}

#define CCONCURRENCY_SWIFT __attribute__((swiftcall))

typedef CCONCURRENCY_SWIFT void (*cconcurrency_original)(void *job);
typedef CCONCURRENCY_SWIFT void (*cconcurrency_original_delay)(unsigned long long delay, void *job);
typedef CCONCURRENCY_SWIFT void (*cconcurrency_original_deadline)(
    long long sec, long long nsec, long long tsec, long long tnsec, int clock, void *job);

extern CCONCURRENCY_SWIFT void (*swift_task_enqueueGlobal_hook)(void *job, cconcurrency_original original);
extern CCONCURRENCY_SWIFT void (*swift_task_enqueueGlobalWithDelay_hook)(
    unsigned long long delay, void *job, cconcurrency_original_delay original);
extern CCONCURRENCY_SWIFT void (*swift_task_enqueueGlobalWithDeadline_hook)(
    long long sec, long long nsec, long long tsec, long long tnsec, int clock, void *job,
    cconcurrency_original_deadline original);

/// An executor. All zeros mean the generic executor, which is any thread.
typedef struct {
    void *identity;
    uintptr_t implementation;
} cconcurrency_executor;

extern CCONCURRENCY_SWIFT void swift_job_run(void *job, cconcurrency_executor executor);

/// Runs a job on this thread.
static inline void cconcurrency_run(void *job) {
    cconcurrency_executor generic = {0, 0};
    swift_job_run(job, generic);
}

struct cconcurrency_runner {
    void *context;
    void (*run)(void *context, void *job);
    void (*run_later)(void *context, void *job, int64_t nanoseconds, int stands_still);
};

/// The function that runs jobs. Set once before the first job and never changed.
static inline struct cconcurrency_runner *cconcurrency_runner(void) {
    static struct cconcurrency_runner runner;
    return &runner;
}

static CCONCURRENCY_SWIFT void cconcurrency_enqueue(void *job, cconcurrency_original original) {
    (void)original;
    cconcurrency_runner()->run(cconcurrency_runner()->context, job);
}

static CCONCURRENCY_SWIFT void cconcurrency_enqueue_after(
    unsigned long long delay, void *job, cconcurrency_original_delay original) {
    (void)original;
    int64_t left = delay > INT64_MAX ? INT64_MAX : (int64_t)delay;
    cconcurrency_runner()->run_later(cconcurrency_runner()->context, job, left, 0);
}

static CCONCURRENCY_SWIFT void cconcurrency_enqueue_at(
    long long sec, long long nsec, long long tsec, long long tnsec, int clock, void *job,
    cconcurrency_original_deadline original) {
    (void)tsec, (void)tnsec, (void)original;
    // The runtime's clock numbers: 1 continues during suspend, 2 does not.
    struct timespec now;
    clock_gettime(clock == 2 ? CLOCK_MONOTONIC : CLOCK_BOOTTIME, &now);
    int64_t left = 0, seconds = sec - now.tv_sec;
    if (__builtin_mul_overflow(seconds, INT64_C(1000000000), &left)) left = seconds < 0 ? 0 : INT64_MAX / 2;
    left += nsec - now.tv_nsec;
    cconcurrency_runner()->run_later(cconcurrency_runner()->context, job, left < 0 ? 0 : left, clock == 2);
}

/// Takes over tasks without an actor's executor. The context must exist as long as the program.
static inline void cconcurrency_take_over(
    void *context, void (*run)(void *context, void *job),
    void (*run_later)(void *context, void *job, int64_t nanoseconds, int stands_still)) {
    *cconcurrency_runner() = (struct cconcurrency_runner){context, run, run_later};
    swift_task_enqueueGlobal_hook = cconcurrency_enqueue;
    swift_task_enqueueGlobalWithDelay_hook = cconcurrency_enqueue_after;
    swift_task_enqueueGlobalWithDeadline_hook = cconcurrency_enqueue_at;
}

#endif
