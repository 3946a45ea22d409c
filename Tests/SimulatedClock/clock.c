// Replaces clock_gettime(2) in a program that links this. Monotonic and processor clocks are not changed.

#define _GNU_SOURCE
#include "SimulatedClock.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const int64_t second = 1000000000;
static _Atomic int64_t ahead;

void simulated_clock_set_ahead(int64_t nanoseconds) { atomic_store(&ahead, nanoseconds); }

// The program's own symbol takes precedence over that of the C library.
int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME)) return result;
    int64_t sum = (int64_t)time->tv_nsec + atomic_load(&ahead);
    time->tv_sec += sum / second;
    time->tv_nsec = sum % second;
    return 0;
}
