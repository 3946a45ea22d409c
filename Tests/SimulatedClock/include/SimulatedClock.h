// A clock that can be set ahead, for the whole program that links this.
#ifndef SIMULATED_CLOCK_H
#define SIMULATED_CLOCK_H

#include <stdint.h>

/// Sets how many nanoseconds the wall clock and the time since the machine's start are ahead of what the kernel says.
void simulated_clock_set_ahead(int64_t nanoseconds);

#endif
