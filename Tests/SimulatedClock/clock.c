// clock_gettime(2) as the program that links this gets to see it. The monotonic clocks and those of the processor go as ever.

#define _GNU_SOURCE
#include "SimulatedClock.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const int64_t second = 1000000000;
static _Atomic int64_t ahead;

void simulated_clock_set_ahead(int64_t nanoseconds) { atomic_store(&ahead, nanoseconds); }

// The program's own symbol comes before that of the C library.
int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME)) return result;
    int64_t sum = (int64_t)time->tv_nsec + atomic_load(&ahead);
    time->tv_sec += sum / second;
    time->tv_nsec = sum % second;
    return 0;
}
