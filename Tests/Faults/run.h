// A pending call with its arguments, read from the program's memory.

#pragma once

#include "faults.h"

/// A call that has started and not returned.
struct pending {
    const struct call *call;
    pid_t thread;
    uint64_t arguments[6];
    /// The absolute path of the file; empty if there is none.
    char path[4096];
    char otherPath[4096];
    /// The bytes and the offset of a write.
    void *bytes;
    uint64_t offset;
    /// Whether the file existed before the call.
    bool wasThere;
    uint64_t number;
    uint64_t directory;
    uint64_t otherDirectory;
};

/// Reads the arguments of the call.
void readCall(struct pending *pending, pid_t thread, const struct call *call, const uint64_t arguments[6]);
/// Reads the data to record that would not be available after the call.
/// - Returns: whether to wait for the call's result.
bool prepareRecord(struct pending *pending, bool isBelow(const char *path));
/// Records the effect of the call.
void recordCall(const struct pending *pending, int64_t result);
void releaseCall(struct pending *pending);
