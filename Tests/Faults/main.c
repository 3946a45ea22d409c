// `faults`: fails one system call of a program, or recreates what a power failure may leave of its recorded writes.
//
//     faults run [--below DIRECTORY]… [--only NAME,NAME] [--matching TEXT] [--number N --fault KIND [--lasting]]
//                [--list FILE] [--record FILE] -- PROGRAM ARGUMENT…
//     faults cuts RECORDING
//     faults lose RECORDING CUT SEED DIRECTORY
//
// Only calls on files below a DIRECTORY count, over all threads and children. KIND is the name of an error (EIO, ENOSPC,
// EACCES, EMFILE, EINTR, EDQUOT, EROFS, ENOMEM), `short` (only half of the bytes are read or written), `kill-before`,
// `kill-after`, or `tear` (half is written, then the program is killed). The exit status is the program's; 128 plus the
// signal's number if a signal ended it; 125 if the tool failed; 77 if this machine does not allow tracing.

#include "faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void fail(const char *what, const char *name) {
    fprintf(stderr, "faults: %s %s: %s\n", what, name, strerror(errno));
    exit(125);
}

static const struct { const char *name; int error; } errors[] = {
    {"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EACCES", EACCES}, {"EMFILE", EMFILE}, {"EINTR", EINTR}, {"EDQUOT", EDQUOT},
    {"EROFS", EROFS}, {"ENOMEM", ENOMEM}, {"EPERM", EPERM}, {"ESTALE", ESTALE},
};

static void parseFault(struct options *options, const char *kind) {
    static const struct { const char *name; enum fault fault; } faults[] = {
        {"short", IS_SHORT}, {"kill-before", KILLS_BEFORE}, {"kill-after", KILLS_AFTER}, {"tear", TEARS},
    };
    for (size_t index = 0; index < sizeof faults / sizeof *faults; index++)
        if (!strcmp(faults[index].name, kind)) {
            options->fault = faults[index].fault;
            return;
        }
    for (size_t index = 0; index < sizeof errors / sizeof *errors; index++)
        if (!strcmp(errors[index].name, kind)) {
            options->fault = FAILS;
            options->error = errors[index].error;
            return;
        }
    errno = EINVAL;
    fail("fault", kind);
}

static struct options parseOptions(char **words) {
    struct options options = {0};
    for (; *words && strcmp(*words, "--"); words++) {
        const char *name = *words;
        if (!strcmp(name, "--lasting")) {
            options.isLasting = true;
            continue;
        }
        const char *value = *++words;
        if (!value) break;
        if (!strcmp(name, "--below") && options.belowCount < 8) options.below[options.belowCount++] = value;
        else if (!strcmp(name, "--only")) options.only = value;
        else if (!strcmp(name, "--matching")) options.matching = value;
        else if (!strcmp(name, "--number")) options.number = atol(value);
        else if (!strcmp(name, "--fault")) parseFault(&options, value);
        else if (!strcmp(name, "--list")) options.list = value;
        else if (!strcmp(name, "--record")) options.recording = value;
        else break;
    }
    if (!*words || strcmp(*words, "--") || !words[1] || !options.belowCount) {
        errno = EINVAL;
        fail("option", *words ? *words : "--");
    }
    options.program = words + 1;
    return options;
}

int main(int count, char **words) {
    if (count > 2 && !strcmp(words[1], "run")) {
        struct options options = parseOptions(words + 2);
        return run(&options);
    }
    if (count == 3 && !strcmp(words[1], "cuts")) return printCuts(words[2]);
    if (count == 6 && !strcmp(words[1], "lose"))
        return losePower(words[2], atol(words[3]), strtoull(words[4], NULL, 10), words[5]);
    fputs("usage: faults run … -- PROGRAM | faults cuts RECORDING | faults lose RECORDING CUT SEED DIRECTORY\n", stderr);
    return 64;
}
