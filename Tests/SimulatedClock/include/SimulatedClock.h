// A clock that can be set ahead, for a program that links this.
#ifndef SIMULATED_CLOCK_H
#define SIMULATED_CLOCK_H

#include <stdint.h>

/// Sets how many nanoseconds CLOCK_REALTIME and CLOCK_BOOTTIME are ahead of the kernel's clocks.
void simulated_clock_set_ahead(int64_t nanoseconds);

#endif
