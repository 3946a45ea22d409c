// Shared declarations: the calls that count, the faults, and the format of a recording.

#pragma once

// Must precede all other headers, so that process_vm_readv(2), pipe2(2) and nftw(3) are declared.
#define _GNU_SOURCE

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/// Ends the tool with status 125, which no program under test uses.
void fail(const char *what, const char *name) __attribute__((noreturn));

// MARK: - Calls (calls.c)

/// The effect of a call, as far as it matters to faults and recordings.
enum effect {
    LOOKS, OPENS, READS, WRITES, TRUNCATES, SYNCS, MAKES_DIRECTORY, LINKS_SYMBOLICALLY, LINKS, UNLINKS, RENAMES, LOCKS,
    CHANGES, UNRECORDED,
};

/// A system call and the indices of the arguments that name files. -1 means none, or the current directory.
struct call {
    int number;
    const char *name;
    enum effect effect;
    int descriptor;
    int path;
    int directory;
    int otherPath;
    int otherDirectory;
};

extern const struct call calls[];
extern const size_t callCount;
const struct call *callNumbered(long number);

// MARK: - The fault (main.c)

enum fault { NONE, FAILS, IS_SHORT, KILLS_BEFORE, KILLS_AFTER, TEARS };

struct options {
    /// Only calls on files below one of these count.
    const char *below[8];
    int belowCount;
    /// Only these calls count, as names separated by commas; NULL for all.
    const char *only;
    /// Only calls on a path that contains this text count.
    const char *matching;
    /// The number of the counted call that gets the fault, from 1; 0 for none.
    long number;
    enum fault fault;
    int error;
    /// Whether all later calls with the same effect get the fault too.
    bool isLasting;
    /// The file that lists the counted calls and marks the one with the fault.
    const char *list;
    const char *recording;
    char **program;
};

// MARK: - Running (run.c)

/// Runs the program to its end.
/// - Returns: its exit status, or 128 plus the number of the signal that ended it.
int run(const struct options *options);

// MARK: - Recordings (recording.c)

/// One change of the files, in the order in which the calls returned.
struct change {
    /// 'd' directory, 'f' file, 'l' symbolic link, 'h' link, 'u' unlink, 'r' rename, 'x' exchange, 'w' write, 't' truncate,
    /// 's' sync, 'S' sync of everything, 'o' output of the program, 'i' end of the initial state.
    char kind;
    /// The inode number of the directory; for a rename, of the source directory.
    uint64_t directory;
    /// The inode number of the file or directory itself; for a rename, of the target directory.
    uint64_t file;
    /// The offset of a write, the length of a truncated file, or the mode of a new file or directory.
    uint64_t offset;
    uint32_t nameLength;
    uint32_t bytesLength;
};


/// Starts a recording with the current contents of `directory`.
void beginRecording(const char *path, const char *directory);
bool isRecording(void);
void record(char kind, uint64_t directory, uint64_t file, uint64_t offset, const char *name, const void *bytes,
            size_t count);
void endRecording(void);

// MARK: - Power losses (powerloss.c)

/// `faults cuts RECORDING`: prints the number of changes.
int printCuts(const char *path);
/// `faults lose RECORDING CUT SEED DIRECTORY`: creates in DIRECTORY a state that a power failure after the change CUT
/// may leave, and prints the program's output up to that change.
int losePower(const char *path, long cut, uint64_t seed, const char *directory);
