// A call on its way: what it is about, read from the program's memory.

#pragma once

#include "faults.h"

/// A call that has begun and not returned.
struct pending {
    const struct call *call;
    pid_t thread;
    uint64_t arguments[6];
    /// The file, as an absolute path; empty where there is none.
    char path[4096];
    char otherPath[4096];
    /// What a write writes, and where.
    void *bytes;
    uint64_t offset;
    /// Whether the file was there before.
    bool wasThere;
    uint64_t number;
    uint64_t directory;
    uint64_t otherDirectory;
};

/// Reads what the call is about.
void readCall(struct pending *pending, pid_t thread, const struct call *call, const uint64_t arguments[6]);
/// Reads what is to be recorded of the call and could not be read afterwards.
/// - Returns: whether its result has to be waited for.
bool prepareRecord(struct pending *pending, bool isBelow(const char *path));
/// Records what the call did.
void recordCall(const struct pending *pending, int64_t result);
void releaseCall(struct pending *pending);
