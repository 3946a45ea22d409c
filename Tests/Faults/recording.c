// Writes a recording: the initial contents of a directory, followed by every change in order.

#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *recording;
static const char *recordingPath;

bool isRecording(void) { return recording != NULL; }

void record(char kind, uint64_t directory, uint64_t file, uint64_t offset, const char *name, const void *bytes,
            size_t count) {
    struct change change = {
        .kind = kind, .directory = directory, .file = file, .offset = offset, .nameLength = (uint32_t)strlen(name),
        .bytesLength = (uint32_t)count,
    };
    if (fwrite(&change, sizeof change, 1, recording) != 1 || fputs(name, recording) < 0
        || (count && fwrite(bytes, count, 1, recording) != 1))
        fail("write", recordingPath);
}

static void recordFile(const char *path, const struct stat *status) {
    char *bytes = malloc((size_t)status->st_size + 1);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 || !bytes ? -1 : read(file, bytes, (size_t)status->st_size);
    if (count < 0) fail("read", path);
    record('w', 0, status->st_ino, 0, "", bytes, (size_t)count);
    close(file);
    free(bytes);
}

static int recordPresent(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)kind;
    char copy[4096];
    snprintf(copy, sizeof copy, "%s", path);
    struct stat above = {0};
    // The parent of the directory itself is recorded as 0.
    if (place->level && stat(dirname(copy), &above)) fail("read", path);
    const char *name = path + place->base;
    if (S_ISDIR(status->st_mode)) {
        record('d', above.st_ino, status->st_ino, status->st_mode & 07777, name, NULL, 0);
    } else if (S_ISLNK(status->st_mode)) {
        char target[4096];
        ssize_t length = readlink(path, target, sizeof target);
        record('l', above.st_ino, status->st_ino, 0, name, target, length < 0 ? 0 : (size_t)length);
    } else if (S_ISREG(status->st_mode)) {
        record('f', above.st_ino, status->st_ino, status->st_mode & 07777, name, NULL, 0);
        recordFile(path, status);
    }
    return 0;
}

void beginRecording(const char *path, const char *directory) {
    recordingPath = path;
    if (!(recording = fopen(path, "we"))) fail("write", path);
    if (nftw(directory, recordPresent, 32, FTW_PHYS)) fail("read", directory);
    record('i', 0, 0, 0, "", NULL, 0);
}

void endRecording(void) {
    if (recording && fclose(recording)) fail("write", recordingPath);
    recording = NULL;
}
