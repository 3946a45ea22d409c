// What the parts of this tool share: which calls count, what happens to one of them, what a recording holds.

#pragma once

// Before any other header: process_vm_readv(2), pipe2(2) and nftw(3) are declared only then.
#define _GNU_SOURCE

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/// Ends the tool with status 125, which no program under test has.
void fail(const char *what, const char *name) __attribute__((noreturn));

// MARK: - Calls (calls.c)

/// What a call does, as far as faults and recordings go.
enum effect {
    LOOKS, OPENS, READS, WRITES, TRUNCATES, SYNCS, MAKES_DIRECTORY, LINKS_SYMBOLICALLY, LINKS, UNLINKS, RENAMES, LOCKS,
    CHANGES, UNRECORDED,
};

/// A system call: which of its arguments name files. -1 stands for none, and for the current directory.
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
    /// Only these calls count, by name between commas; all where it is NULL.
    const char *only;
    /// Only calls on a path that holds this count.
    const char *matching;
    /// Which of the calls that count meets the fault, from 1; 0 for none.
    long number;
    enum fault fault;
    int error;
    /// Whether all later calls of its effect meet the error, too.
    bool isLasting;
    /// Where the calls that count are listed, and what met the fault.
    const char *list;
    const char *recording;
    char **program;
};

// MARK: - Running (run.c)

/// Runs the program to its end.
/// - Returns: its exit status; 128 and the number of the signal that ended it.
int run(const struct options *options);

// MARK: - Recordings (recording.c)

/// One change of the files, in the order in which the calls returned.
struct change {
    /// 'd' directory, 'f' file, 'l' symbolic link, 'h' link, 'u' unlink, 'r' rename, 'x' exchange, 'w' write, 't' truncate,
    /// 's' sync, 'S' sync of everything, 'o' output that the program's user sees, 'i' end of what was there before.
    char kind;
    /// The directory's number, of the source where there are two.
    uint64_t directory;
    /// The number of the file or directory itself; of a rename's target directory.
    uint64_t file;
    /// Where a write begins; a truncated file's length; the mode of what is made.
    uint64_t offset;
    uint32_t nameLength;
    uint32_t bytesLength;
};


/// Begins a recording with all that is below `directory` now.
void beginRecording(const char *path, const char *directory);
bool isRecording(void);
void record(char kind, uint64_t directory, uint64_t file, uint64_t offset, const char *name, const void *bytes,
            size_t count);
void endRecording(void);

// MARK: - Power losses (powerloss.c)

/// `faults cuts RECORDING`: prints how many changes there are.
int printCuts(const char *path);
/// `faults lose RECORDING CUT SEED DIRECTORY`: makes in DIRECTORY what a power failure behind the change CUT may leave,
/// and prints what the program had said by then.
int losePower(const char *path, long cut, uint64_t seed, const char *directory);
