// Runs a program under ptrace(2); a seccomp filter stops it only at the calls that can get a fault.

#include "faults.h"
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__

int run(const struct options *options) {
    (void)options;
    return 77;
}

#else

/// A thread of the program, with its pending call.
struct thread {
    pid_t id;
    struct pending pending;
    bool isKilledAfter;
};

static const struct options *options;
static struct thread threads[4096];
static FILE *list;
static long counted;
/// The effect of the call that got a lasting fault.
static int lastingEffect = -1;

// MARK: The program

static void installFilter(void) {
    struct sock_filter filter[256];
    size_t length = 0;
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t index = 0; index < callCount; index++) {
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[index].number, 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = (unsigned short)length, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) _exit(125);
}

/// Starts the program, which waits until it is traced.
static pid_t start(void) {
    int gate[2];
    if (pipe2(gate, O_CLOEXEC)) fail("make", "a pipe");
    pid_t id = fork();
    if (id < 0) fail("start", options->program[0]);
    if (id == 0) {
        char byte;
        close(gate[1]);
        if (read(gate[0], &byte, 1) != 1) _exit(125);
        installFilter();
        execvp(options->program[0], options->program);
        _exit(125);
    }
    long wanted = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK
        | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD;
    if (ptrace(PTRACE_SEIZE, id, 0, wanted)) {
        kill(id, SIGKILL);
        exit(77);
    }
    if (write(gate[1], "", 1) != 1) fail("start", options->program[0]);
    close(gate[0]);
    close(gate[1]);
    return id;
}

// MARK: Threads

static struct thread *threadOf(pid_t id) {
    struct thread *unused = NULL;
    for (size_t index = 0; index < sizeof threads / sizeof *threads; index++) {
        if (threads[index].id == id) return &threads[index];
        if (!threads[index].id && !unused) unused = &threads[index];
    }
    if (!unused) {
        errno = ENOMEM;
        fail("trace", "so many threads");
    }
    *unused = (struct thread){.id = id};
    return unused;
}

static pid_t processOf(pid_t thread) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", thread);
    FILE *file = fopen(path, "re");
    pid_t process = thread;
    while (file && fgets(line, sizeof line, file)) sscanf(line, "Tgid: %d", &process);
    if (file) fclose(file);
    return process;
}

// MARK: Calls

static bool isBelow(const char *path) {
    for (int index = 0; index < options->belowCount; index++) {
        size_t length = strlen(options->below[index]);
        if (!strncmp(path, options->below[index], length) && (path[length] == '/' || !path[length])) return true;
    }
    return false;
}

static bool isNamed(const char *name) {
    if (!options->only) return true;
    size_t length = strlen(name);
    for (const char *found = options->only; (found = strstr(found, name)); found++) {
        bool begins = found == options->only || found[-1] == ',';
        if (begins && (found[length] == ',' || !found[length])) return true;
    }
    return false;
}

/// Whether the call acquires a lock; fcntl(2) has many other uses.
static bool isLocking(const struct pending *pending) {
    if (strcmp(pending->call->name, "fcntl")) return true;
    struct flock lock;
    int command = (int)pending->arguments[1];
    if (command != F_SETLK && command != F_SETLKW && command != F_OFD_SETLK && command != F_OFD_SETLKW) return false;
    struct iovec here = {&lock, sizeof lock}, there = {(void *)pending->arguments[2], sizeof lock};
    return process_vm_readv(pending->thread, &here, 1, &there, 1, 0) == sizeof lock && lock.l_type != F_UNLCK;
}

static bool counts(const struct pending *pending) {
    if (!isNamed(pending->call->name)) return false;
    if (!isBelow(pending->path) && !(pending->call->otherPath >= 0 && isBelow(pending->otherPath))) return false;
    if (options->matching && !strstr(pending->path, options->matching)) return false;
    return pending->call->effect != LOCKS || isLocking(pending);
}

/// The fault to inject into the call; NONE if it is not its turn.
static enum fault faultOf(const struct pending *pending) {
    if (!counts(pending)) return NONE;
    counted++;
    bool isDue = counted == options->number;
    if (list)
        fprintf(list, "%ld %s %s%s\n", counted, pending->call->name, pending->path, isDue ? " FAULT" : "");
    if (isDue && options->isLasting) lastingEffect = (int)pending->call->effect;
    if (isDue || lastingEffect == (int)pending->call->effect) return options->fault;
    return NONE;
}

/// The register with the number of bytes to read or write; NULL for other calls.
static unsigned long long *countRegister(struct user_regs_struct *registers, const struct call *call) {
    return call->effect == READS || call->effect == WRITES ? &registers->rdx : NULL;
}

static void meet(struct thread *thread, enum fault fault, struct user_regs_struct *registers) {
    unsigned long long *count = countRegister(registers, thread->pending.call);
    switch (fault) {
    case NONE: return;
    case FAILS:
        registers->orig_rax = (unsigned long long)-1;
        registers->rax = (unsigned long long)-(long long)options->error;
        thread->pending.call = NULL;
        break;
    case TEARS: thread->isKilledAfter = true; /* fall through */
    case IS_SHORT:
        // getdents64 needs room for complete records, so its buffer is not halved.
        if (count && *count > 1 && strcmp(thread->pending.call->name, "getdents64")) *count /= 2;
        break;
    case KILLS_BEFORE: kill(processOf(thread->id), SIGKILL); break;
    case KILLS_AFTER: thread->isKilledAfter = true; break;
    }
    if (ptrace(PTRACE_SETREGS, thread->id, 0, registers) && errno != ESRCH) fail("change", "a call");
}

/// Handles a thread that is about to make a call.
static void begins(struct thread *thread) {
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, thread->id, 0, &registers)) return;
    const struct call *call = callNumbered((long)registers.orig_rax);
    bool mustReturn = false;
    if (call) {
        uint64_t arguments[6] = {registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9};
        readCall(&thread->pending, thread->id, call, arguments);
        meet(thread, faultOf(&thread->pending), &registers);
        mustReturn = thread->pending.call
            && (thread->isKilledAfter || (isRecording() && prepareRecord(&thread->pending, isBelow)));
    }
    ptrace(mustReturn ? PTRACE_SYSCALL : PTRACE_CONT, thread->id, 0, 0);
}

/// Handles the return of a thread's call.
static void returns(struct thread *thread) {
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, thread->id, 0, &registers)) return;
    if (thread->pending.call && isRecording()) recordCall(&thread->pending, (int64_t)registers.rax);
    releaseCall(&thread->pending);
    if (thread->isKilledAfter) kill(processOf(thread->id), SIGKILL);
    thread->isKilledAfter = false;
    ptrace(PTRACE_CONT, thread->id, 0, 0);
}

// MARK: The loop

static void goOn(pid_t id, int status) {
    int signal = WSTOPSIG(status), event = status >> 16;
    struct thread *thread = threadOf(id);
    if (event == PTRACE_EVENT_SECCOMP) return begins(thread);
    if (signal == (SIGTRAP | 0x80)) return returns(thread);
    if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
        ptrace(PTRACE_LISTEN, id, 0, 0);
        return;
    }
    ptrace(PTRACE_CONT, id, 0, event ? 0 : signal);
}

int run(const struct options *given) {
    options = given;
    if (options->list && !(list = fopen(options->list, "we"))) fail("write", options->list);
    if (options->recording) beginRecording(options->recording, options->below[0]);
    pid_t program = start();
    int result = 125, status;
    for (pid_t id; (id = waitpid(-1, &status, __WALL)) > 0;) {
        if (WIFSTOPPED(status)) {
            goOn(id, status);
            continue;
        }
        struct thread *thread = threadOf(id);
        releaseCall(&thread->pending);
        thread->id = 0;
        if (id == program) result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    if (list) fprintf(list, "calls %ld\n", counted);
    if (list && fclose(list)) fail("write", options->list);
    endRecording();
    return result;
}

#endif
