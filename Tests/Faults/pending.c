// Reads the arguments of a call from the program's memory, and records its effect.

#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// MARK: Reading the program's memory

static void readText(pid_t thread, uint64_t address, char *text, size_t limit) {
    size_t length = 0;
    while (length + 1 < limit) {
        // Never read across the end of a page: the next one may not be mapped.
        size_t count = 256 - (address + length) % 256;
        if (count > limit - 1 - length) count = limit - 1 - length;
        struct iovec here = {text + length, count}, there = {(void *)(address + length), count};
        ssize_t got = process_vm_readv(thread, &here, 1, &there, 1, 0);
        if (got <= 0) break;
        if (memchr(text + length, 0, (size_t)got)) return;
        length += (size_t)got;
    }
    text[length] = 0;
}

static void readLink(const char *link, char *path, size_t limit) {
    ssize_t length = readlink(link, path, limit - 1);
    path[length < 0 ? 0 : length] = 0;
}

static void pathOfDescriptor(pid_t thread, int descriptor, char *path, size_t limit) {
    char link[64];
    snprintf(link, sizeof link, descriptor == AT_FDCWD ? "/proc/%d/cwd" : "/proc/%d/fd/%d", thread, descriptor);
    readLink(link, path, limit);
}

static void readPath(const struct pending *pending, int path, int directory, char *result, size_t limit) {
    char name[4096];
    readText(pending->thread, pending->arguments[path], name, sizeof name);
    if (name[0] == '/') {
        snprintf(result, limit, "%s", name);
        return;
    }
    pathOfDescriptor(pending->thread, directory < 0 ? AT_FDCWD : (int)pending->arguments[directory], result, limit);
    size_t length = strlen(result);
    if (name[0] && strcmp(name, ".")) snprintf(result + length, limit - length, "/%s", name);
}

void readCall(struct pending *pending, pid_t thread, const struct call *call, const uint64_t arguments[6]) {
    releaseCall(pending);
    pending->call = call;
    pending->thread = thread;
    memcpy(pending->arguments, arguments, sizeof pending->arguments);
    pending->path[0] = pending->otherPath[0] = 0;
    if (call->path >= 0) readPath(pending, call->path, call->directory, pending->path, sizeof pending->path);
    else if (call->descriptor >= 0)
        pathOfDescriptor(thread, (int)arguments[call->descriptor], pending->path, sizeof pending->path);
    if (call->otherPath >= 0)
        readPath(pending, call->otherPath, call->otherDirectory, pending->otherPath, sizeof pending->otherPath);
}

void releaseCall(struct pending *pending) {
    free(pending->bytes);
    pending->bytes = NULL;
    pending->call = NULL;
}

// MARK: Recording

static uint64_t numberOf(const char *path) {
    struct stat status;
    return lstat(path, &status) ? 0 : status.st_ino;
}

static uint64_t numberOfDescriptor(pid_t thread, int descriptor) {
    char link[64];
    struct stat status;
    snprintf(link, sizeof link, "/proc/%d/fd/%d", thread, descriptor);
    return stat(link, &status) ? 0 : status.st_ino;
}

static uint64_t directoryOf(const char *path) {
    char copy[4096];
    snprintf(copy, sizeof copy, "%s", path);
    return numberOf(dirname(copy));
}

static const char *nameOf(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/// The offset of the next write(2) through a descriptor.
static uint64_t positionOf(pid_t thread, int descriptor) {
    char path[64], line[128];
    unsigned long long position = 0;
    unsigned flags = 0;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", thread, descriptor);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "pos: %llu", &position);
        sscanf(line, "flags: %o", &flags);
    }
    if (file) fclose(file);
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", thread, descriptor);
    return flags & O_APPEND && !stat(path, &status) ? (uint64_t)status.st_size : position;
}

static void prepareWrite(struct pending *pending) {
    size_t count = pending->arguments[2];
    pending->bytes = malloc(count + 1);
    struct iovec here = {pending->bytes, count}, there = {(void *)pending->arguments[1], count};
    if (!pending->bytes || process_vm_readv(pending->thread, &here, 1, &there, 1, 0) != (ssize_t)count)
        fail("read", "the written bytes");
    bool isPositioned = !strcmp(pending->call->name, "pwrite64");
    pending->offset = isPositioned ? pending->arguments[3] : positionOf(pending->thread, (int)pending->arguments[0]);
}

bool prepareRecord(struct pending *pending, bool isBelow(const char *path)) {
    const struct call *call = pending->call;
    bool isOutput = call->effect == WRITES && pending->arguments[0] == 1;
    bool isOurs = isBelow(pending->path) || (call->otherPath >= 0 && isBelow(pending->otherPath));
    if (!isOurs && !isOutput) return false;
    switch (call->effect) {
    case LOOKS: case READS: case LOCKS: case CHANGES: return false;
    case UNRECORDED:
        errno = ENOSYS;
        fail("record", call->name);
    case WRITES: prepareWrite(pending); break;
    case OPENS: {
        uint64_t flags = pending->arguments[call->directory < 0 ? 1 : 2];
        struct iovec here = {&flags, sizeof flags}, there = {(void *)pending->arguments[2], sizeof flags};
        // openat2(2) passes the flags in a structure.
        if (!strcmp(call->name, "openat2")) process_vm_readv(pending->thread, &here, 1, &there, 1, 0);
        if (!(flags & (O_CREAT | O_TRUNC | __O_TMPFILE))) return false;
        pending->offset = flags;
        break;
    }
    default: break;
    }
    pending->number = call->path >= 0 ? numberOf(pending->path) : 0;
    pending->wasThere = pending->number != 0;
    return true;
}

static void recordOpening(const struct pending *pending, int descriptor) {
    uint64_t number = numberOfDescriptor(pending->thread, descriptor);
    if ((pending->offset & __O_TMPFILE) == __O_TMPFILE) {
        record('f', 0, number, 0600, "", NULL, 0);
    } else if (!pending->wasThere) {
        record('f', directoryOf(pending->path), number, 0600, nameOf(pending->path), NULL, 0);
    } else if (pending->offset & O_TRUNC) {
        record('t', 0, number, 0, "", NULL, 0);
    }
}

void recordCall(const struct pending *pending, int64_t result) {
    if (result < 0) return;
    const char *path = pending->path, *name = nameOf(path);
    char target[4096];
    uint64_t file = pending->call->descriptor < 0
        ? 0 : numberOfDescriptor(pending->thread, (int)pending->arguments[pending->call->descriptor]);
    switch (pending->call->effect) {
    case OPENS: recordOpening(pending, (int)result); break;
    case WRITES:
        if (pending->arguments[0] == 1) record('o', 0, 0, 0, "", pending->bytes, (size_t)result);
        else record('w', 0, file, pending->offset, "", pending->bytes, (size_t)result);
        break;
    case TRUNCATES: record('t', 0, file, pending->arguments[1], "", NULL, 0); break;
    case SYNCS: record(strcmp(pending->call->name, "syncfs") ? 's' : 'S', 0, file, 0, "", NULL, 0); break;
    case MAKES_DIRECTORY: record('d', directoryOf(path), numberOf(path), 0700, name, NULL, 0); break;
    case LINKS_SYMBOLICALLY:
        readText(pending->thread, pending->arguments[0], target, sizeof target);
        record('l', directoryOf(path), numberOf(path), 0, name, target, strlen(target));
        break;
    case LINKS: record('h', directoryOf(path), numberOf(path), 0, name, NULL, 0); break;
    case UNLINKS: record('u', directoryOf(path), 0, 0, name, NULL, 0); break;
    case RENAMES: {
        bool isExchange = !strcmp(pending->call->name, "renameat2") && pending->arguments[4] & 2;
        const char *other = nameOf(pending->otherPath);
        record(isExchange ? 'x' : 'r', directoryOf(pending->otherPath), directoryOf(path), 0, other, name, strlen(name));
        break;
    }
    default: break;
    }
}
