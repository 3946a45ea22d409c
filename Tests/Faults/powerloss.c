// Recreates a state that a power failure may leave of recorded changes.
//
// The model is a file system with an ordered journal, and slightly worse than ext4:
// - Changes of names and lengths reach the disk in order. All changes up to some point survive, and none after it; the
//   point is not before the last sync of a directory. A sync of a file does not make its name durable.
// - Bytes written to a file before its last sync survive. Of later writes, any subset of the pages or sectors survives;
//   the others keep their old content, or are zero. The file's length may include lost bytes.
// - If a rename that replaces a file survives, so do the bytes of the renamed file (ext4's auto_da_alloc).
// - Mapped memory is not recorded: SQLite's -shm file is skipped, because SQLite recreates it.

#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct node;

/// A change of a file's bytes: a write, or a new length.
struct edit {
    bool isLength;
    uint64_t offset;
    uint32_t count;
    const char *bytes;
    /// The number of preceding changes of names; a new length counts as one too.
    size_t order;
};

/// A change of names; `other` is a rename's target directory.
struct naming {
    char kind;
    struct node *directory;
    struct node *file;
    char *name;
    char *otherName;
};

struct entry {
    char *name;
    struct node *node;
};

/// A file, directory or symbolic link.
struct node {
    uint64_t number;
    char kind;
    mode_t mode;
    char *target;
    struct edit *edits;
    size_t editCount;
    size_t certainEdits;
    struct entry *entries;
    size_t entryCount;
    char *madeAt;
    struct node *older;
};

static struct node *newest;
static struct node *root;
static struct naming *namings;
static size_t namingCount;
static size_t certainNamings;

/// How to choose which uncertain changes survive.
struct chance {
    uint64_t state;
    double names, bytes;
    uint32_t unit;
    bool keepsLengths;
};

static void *grown(void *array, size_t count, size_t size) {
    // Grow only when the count is a power of two.
    if (count & (count - 1)) return array;
    void *larger = realloc(array, (count ? 2 * count : 1) * size);
    if (!larger) fail("allocate", "memory");
    return larger;
}

// MARK: Reading

static struct node *nodeNumbered(uint64_t number) {
    for (struct node *node = newest; node; node = node->older)
        if (node->number == number) return node;
    return NULL;
}

static struct node *makeNode(const struct change *change, const char *bytes) {
    struct node *node = calloc(1, sizeof *node);
    if (!node) fail("allocate", "memory");
    *node = (struct node){.number = change->file, .kind = change->kind, .mode = (mode_t)change->offset, .older = newest};
    if (change->kind == 'l') node->target = strndup(bytes, change->bytesLength);
    if (!newest) root = node;
    return newest = node;
}

static void addNaming(char kind, struct node *directory, struct node *file, const char *name, const char *otherName) {
    namings = grown(namings, namingCount, sizeof *namings);
    namings[namingCount++] = (struct naming){kind, directory, file, strdup(name), otherName ? strdup(otherName) : NULL};
}

static void addEdit(struct node *node, struct edit edit) {
    if (!node) return;
    if (edit.isLength) addNaming('t', node, NULL, "", NULL);
    edit.order = namingCount;
    node->edits = grown(node->edits, node->editCount, sizeof *node->edits);
    node->edits[node->editCount++] = edit;
}

static void syncEverything(void) {
    certainNamings = namingCount;
    for (struct node *node = newest; node; node = node->older) node->certainEdits = node->editCount;
}

static void add(const struct change *change, const char *name, const char *bytes) {
    struct node *directory = nodeNumbered(change->directory), *file = nodeNumbered(change->file);
    char other[4096];
    switch (change->kind) {
    case 'd': case 'f': case 'l':
        // In the initial state, a file that is known already gets a second name.
        if (!file || certainNamings || change->kind != 'f') file = makeNode(change, bytes);
        if (directory) addNaming('h', directory, file, name, NULL);
        break;
    case 'h': addNaming('h', directory, file, name, NULL); break;
    case 'u': addNaming('u', directory, NULL, name, NULL); break;
    case 'r': case 'x':
        snprintf(other, sizeof other, "%.*s", (int)change->bytesLength, bytes);
        addNaming(change->kind, directory, file, name, other);
        break;
    case 'w': addEdit(file, (struct edit){.offset = change->offset, .count = change->bytesLength, .bytes = bytes}); break;
    case 't': addEdit(file, (struct edit){.isLength = true, .offset = change->offset}); break;
    case 's':
        if (!file) break;
        file->certainEdits = file->editCount;
        if (file->kind == 'd') certainNamings = namingCount;
        break;
    case 'S': case 'i': syncEverything(); break;
    case 'o': fwrite(bytes, 1, change->bytesLength, stdout); break;
    default: break;
    }
}

/// Reads a recording up to the change number `cut` after the initial state; -1 for all.
/// - Returns: the number of changes read.
static long readRecording(const char *path, long cut, bool keeps) {
    FILE *file = fopen(path, "re");
    if (!file) fail("read", path);
    struct change change;
    long after = -1;
    while ((cut < 0 || after < cut) && fread(&change, sizeof change, 1, file) == 1) {
        char *name = calloc(1, change.nameLength + 1), *bytes = malloc(change.bytesLength + 1);
        if (!name || !bytes || fread(name, 1, change.nameLength, file) != change.nameLength
            || fread(bytes, 1, change.bytesLength, file) != change.bytesLength)
            fail("read", path);
        if (after >= 0 || change.kind == 'i') after++;
        if (keeps) add(&change, name, bytes);
        else free(bytes);
        free(name);
    }
    fclose(file);
    return after;
}

int printCuts(const char *path) {
    printf("%ld\n", readRecording(path, -1, false));
    return 0;
}

// MARK: Choosing

/// SplitMix64.
static uint64_t next(struct chance *chance) {
    uint64_t z = chance->state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static double fraction(struct chance *chance) { return (double)(next(chance) >> 11) / (double)(1ULL << 53); }

/// The first five seeds are the extremes: only certain changes, all changes, names without bytes, names with lengths
/// but without bytes, bytes without names.
static struct chance chanceOf(uint64_t seed) {
    static const double likely[] = {0, 0.1, 0.5, 0.9, 1};
    static const struct chance extremes[] = {
        {0, 0, 0, 4096, false}, {0, 1, 1, 4096, false}, {0, 1, 0, 4096, false}, {0, 1, 0, 4096, true},
        {0, 0, 1, 4096, false},
    };
    if (seed < 5) return extremes[seed];
    struct chance chance = {.state = seed};
    chance.names = fraction(&chance);
    chance.bytes = likely[next(&chance) % 5];
    chance.unit = next(&chance) % 2 ? 4096 : 512;
    chance.keepsLengths = next(&chance) % 2;
    return chance;
}

// MARK: Names

static struct entry *entryNamed(struct node *directory, const char *name) {
    for (size_t index = 0; directory && index < directory->entryCount; index++)
        if (!strcmp(directory->entries[index].name, name)) return &directory->entries[index];
    return NULL;
}

static void setEntry(struct node *directory, const char *name, struct node *node) {
    struct entry *entry = entryNamed(directory, name);
    if (entry) {
        if (node) entry->node = node;
        else *entry = directory->entries[--directory->entryCount];
    } else if (node && directory) {
        directory->entries = grown(directory->entries, directory->entryCount, sizeof *directory->entries);
        directory->entries[directory->entryCount++] = (struct entry){strdup(name), node};
    }
}

/// Makes everything that was written before the rename `order` certain.
static void makeCertain(struct node *node, size_t order) {
    while (node->certainEdits < node->editCount && node->edits[node->certainEdits].order <= order) node->certainEdits++;
}

static void applyNaming(const struct naming *naming) {
    struct entry *from, *to;
    switch (naming->kind) {
    case 'h': setEntry(naming->directory, naming->name, naming->file); break;
    case 'u': setEntry(naming->directory, naming->name, NULL); break;
    case 'r':
        if (!(from = entryNamed(naming->directory, naming->name))) break;
        struct node *moved = from->node;
        if (entryNamed(naming->file, naming->otherName)) makeCertain(moved, (size_t)(naming - namings));
        setEntry(naming->directory, naming->name, NULL);
        setEntry(naming->file, naming->otherName, moved);
        break;
    case 'x':
        from = entryNamed(naming->directory, naming->name);
        to = entryNamed(naming->file, naming->otherName);
        if (!from || !to) break;
        struct node *node = from->node;
        from->node = to->node;
        to->node = node;
        break;
    default: break;
    }
}

// MARK: Bytes

struct content {
    char *bytes;
    size_t length;
    size_t room;
};

static void setLength(struct content *content, size_t length) {
    if (length > content->room) {
        size_t room = length * 2;
        if (!(content->bytes = realloc(content->bytes, room))) fail("allocate", "memory");
        memset(content->bytes + content->room, 0, room - content->room);
        content->room = room;
    }
    if (length < content->length) memset(content->bytes + length, 0, content->length - length);
    content->length = length;
}

static void applyWrite(struct content *content, const struct edit *edit, struct chance *chance, bool isCertain) {
    uint64_t end = edit->offset + edit->count;
    for (uint64_t at = edit->offset; at < end;) {
        uint64_t stop = (at / chance->unit + 1) * chance->unit;
        if (stop > end) stop = end;
        if (isCertain || fraction(chance) < chance->bytes) {
            if (stop > content->length) setLength(content, stop);
            memcpy(content->bytes + at, edit->bytes + (at - edit->offset), stop - at);
        }
        at = stop;
    }
    if (chance->keepsLengths && end > content->length) setLength(content, end);
}

static void writeContent(const struct node *node, const char *path, size_t applied, struct chance *chance) {
    struct content content = {0};
    for (size_t index = 0; index < node->editCount; index++) {
        const struct edit *edit = &node->edits[index];
        bool isCertain = index < node->certainEdits;
        if (!edit->isLength) applyWrite(&content, edit, chance, isCertain);
        else if (isCertain || edit->order <= applied) setLength(&content, edit->offset);
    }
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, node->mode);
    if (file < 0) fail("make", path);
    for (size_t done = 0; done < content.length;) {
        ssize_t count = write(file, content.bytes + done, content.length - done);
        if (count < 0) fail("write", path);
        done += (size_t)count;
    }
    close(file);
    free(content.bytes);
}

static void make(struct node *node, const char *path, size_t applied, struct chance *chance) {
    size_t length = strlen(path);
    if (length > 4 && !strcmp(path + length - 4, "-shm")) return;
    if (node->kind == 'l') {
        if (symlink(node->target, path)) fail("make", path);
    } else if (node->kind == 'f' && node->madeAt) {
        if (link(node->madeAt, path)) fail("make", path);
    } else if (node->kind == 'f') {
        writeContent(node, path, applied, chance);
        node->madeAt = strdup(path);
    } else {
        if (mkdir(path, node->mode | 0700)) fail("make", path);
        for (size_t index = 0; index < node->entryCount; index++) {
            char below[4096];
            snprintf(below, sizeof below, "%s/%s", path, node->entries[index].name);
            make(node->entries[index].node, below, applied, chance);
        }
    }
}

int losePower(const char *path, long cut, uint64_t seed, const char *directory) {
    readRecording(path, cut, true);
    struct chance chance = chanceOf(seed);
    size_t uncertain = namingCount - certainNamings;
    size_t kept = (size_t)(chance.names * (double)(uncertain + 1));
    size_t applied = certainNamings + (kept > uncertain ? uncertain : kept);
    for (size_t index = 0; index < applied; index++) applyNaming(&namings[index]);
    make(root, directory, applied, &chance);
    return 0;
}
