// Linux system calls and constants for Swift; CLinux.h describes them.
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timex.h>
#include <sys/timerfd.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

// Since Linux 5.9; not in older headers.
#ifndef FAN_REPORT_DFID_NAME
#define FAN_REPORT_DFID_NAME 0x00000c00
#endif
// Since Linux 6.5: a handle that need not be usable for opening; more file systems support it.
#ifndef AT_HANDLE_FID
#define AT_HANDLE_FID 0x200
#endif

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x00001000U
#endif

_Static_assert(CLINUX_O_PATH == O_PATH, "O_PATH");
_Static_assert(CLINUX_O_NOATIME == O_NOATIME, "O_NOATIME");
_Static_assert(CLINUX_AT_EMPTY_PATH == AT_EMPTY_PATH, "AT_EMPTY_PATH");
_Static_assert(CLINUX_AT_SYMLINK_NOFOLLOW == AT_SYMLINK_NOFOLLOW, "AT_SYMLINK_NOFOLLOW");
_Static_assert(CLINUX_FAN_EVENT_ON_CHILD == FAN_EVENT_ON_CHILD, "FAN_EVENT_ON_CHILD");
_Static_assert(CLINUX_MAX_IDENTITY == 16 + MAX_HANDLE_SZ, "MAX_HANDLE_SZ");
_Static_assert(CLINUX_SEEK_DATA == SEEK_DATA && CLINUX_SEEK_HOLE == SEEK_HOLE, "SEEK_DATA");

int clinux_statx(int directory, const char *path, int flags, struct clinux_status *out) {
    struct statx s;
    int result = statx(directory, path, flags, STATX_BASIC_STATS | STATX_MNT_ID, &s);
    if (result != 0) return result;
    out->mode = s.stx_mode;
    out->uid = s.stx_uid;
    out->gid = s.stx_gid;
    out->links = s.stx_nlink;
    out->inode = s.stx_ino;
    out->size = s.stx_size;
    out->blocks = s.stx_blocks;
    out->device = makedev(s.stx_dev_major, s.stx_dev_minor);
    out->special = makedev(s.stx_rdev_major, s.stx_rdev_minor);
    out->mount = (s.stx_mask & STATX_MNT_ID) ? s.stx_mnt_id : 0;
    out->attributes = s.stx_attributes;
    out->modified_seconds = s.stx_mtime.tv_sec;
    out->modified_nanoseconds = s.stx_mtime.tv_nsec;
    out->changed_seconds = s.stx_ctime.tv_sec;
    out->changed_nanoseconds = s.stx_ctime.tv_nsec;
    return 0;
}

int clinux_identity(int descriptor, void *bytes, size_t count) {
    struct statx s;
    struct statfs file_system;
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &s) != 0) return -1;
    if (fstatfs(descriptor, &file_system) != 0) return -1;
    bool is_born = (s.stx_mask & STATX_BTIME) && (s.stx_btime.tv_sec != 0 || s.stx_btime.tv_nsec != 0);
    if (!is_born || count != CLINUX_IDENTITY_SIZE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    int64_t seconds = s.stx_btime.tv_sec;
    uint32_t nanoseconds = s.stx_btime.tv_nsec;
    uint64_t inode = s.stx_ino;
    char *next = bytes;
    memcpy(next, &file_system.f_fsid, 8);
    memcpy(next + 8, &inode, 8);
    memcpy(next + 16, &seconds, 8);
    memcpy(next + 24, &nanoseconds, 4);
    return 0;
}

ssize_t clinux_getdents(int directory, void *buffer, size_t capacity) {
    return syscall(SYS_getdents64, directory, buffer, capacity);
}

int clinux_open_beneath(int directory, const char *path, uint64_t flags, uint32_t mode) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = flags;
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    long result;
    // EAGAIN: because of a concurrent rename the kernel cannot tell that the path stays beneath (openat2(2)).
    do result = syscall(SYS_openat2, directory, path, &how, sizeof how);
    while (result == -1 && (errno == EAGAIN || errno == EINTR));
    return (int)result;
}

int clinux_synchronize_file_system(int descriptor) { return syncfs(descriptor); }

int clinux_rename(int from_directory, const char *from, int to_directory, const char *to, unsigned int flags) {
    return renameat2(from_directory, from, to_directory, to, flags);
}

ssize_t clinux_lgetxattr(const char *path, const char *name, void *value, size_t size) {
    return lgetxattr(path, name, value, size);
}
ssize_t clinux_llistxattr(const char *path, char *list, size_t size) { return llistxattr(path, list, size); }
int clinux_lsetxattr(const char *path, const char *name, const void *value, size_t size) {
    return lsetxattr(path, name, value, size, 0);
}
int clinux_lremovexattr(const char *path, const char *name) { return lremovexattr(path, name); }
ssize_t clinux_fgetxattr(int descriptor, const char *name, void *value, size_t size) {
    return fgetxattr(descriptor, name, value, size);
}
ssize_t clinux_flistxattr(int descriptor, char *list, size_t size) { return flistxattr(descriptor, list, size); }
int clinux_fsetxattr(int descriptor, const char *name, const void *value, size_t size) {
    return fsetxattr(descriptor, name, value, size, 0);
}
int clinux_fremovexattr(int descriptor, const char *name) { return fremovexattr(descriptor, name); }

int64_t clinux_file_system_magic(int descriptor) {
    struct statfs s;
    return fstatfs(descriptor, &s) == 0 ? (int64_t)(uint32_t)s.f_type : -1;
}

int64_t clinux_free_bytes(int descriptor) {
    struct statvfs s;
    return fstatvfs(descriptor, &s) == 0 ? (int64_t)(s.f_bavail * s.f_frsize) : -1;
}

int64_t clinux_total_bytes(int descriptor) {
    struct statvfs s;
    return fstatvfs(descriptor, &s) == 0 ? (int64_t)(s.f_blocks * s.f_frsize) : -1;
}

int clinux_duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }

int clinux_mark(int descriptor, int is_marked) {
    struct flock range = {.l_type = is_marked ? F_RDLCK : F_UNLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, F_OFD_SETLK, &range);
}

int clinux_is_marked_elsewhere(int descriptor) {
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(descriptor, F_OFD_GETLK, &range) != 0) return -1;
    return range.l_type != F_UNLCK;
}

int clinux_openat(int directory, const char *path, int flags, uint32_t mode) {
    return openat(directory, path, flags, mode);
}

int clinux_bytes_waiting(int descriptor) {
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) == 0 ? count : -1;
}

int clinux_begin_writing(int descriptor, int64_t start, int64_t count) {
    return sync_file_range(descriptor, start, count, SYNC_FILE_RANGE_WRITE);
}

int clinux_poll(struct pollfd *files, int count, const struct timespec *limit) {
    return ppoll(files, (nfds_t)count, limit, NULL);
}

int clinux_fanotify_init(void) {
    return fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | FAN_REPORT_DFID_NAME, O_RDONLY);
}

int clinux_fanotify_mark(int group, int directory, uint64_t mask) {
    return fanotify_mark(group, FAN_MARK_ADD | FAN_MARK_ONLYDIR, mask, directory, NULL);
}

int clinux_fanotify_flush(int group) { return fanotify_mark(group, FAN_MARK_FLUSH, 0, AT_FDCWD, "/"); }

int clinux_fanotify_identity(int descriptor, void *buffer) {
    union {
        struct file_handle handle;
        char bytes[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } handle;
    struct statfs file_system;
    int mount;
    handle.handle.handle_bytes = MAX_HANDLE_SZ;
    int result = name_to_handle_at(descriptor, "", &handle.handle, &mount, AT_EMPTY_PATH | AT_HANDLE_FID);
    if (result != 0 && errno == EINVAL) {
        handle.handle.handle_bytes = MAX_HANDLE_SZ;
        result = name_to_handle_at(descriptor, "", &handle.handle, &mount, AT_EMPTY_PATH);
    }
    if (result != 0 || fstatfs(descriptor, &file_system) != 0) return -1;
    size_t length = sizeof handle.handle + handle.handle.handle_bytes;
    memcpy(buffer, &file_system.f_fsid, 8);
    memcpy((char *)buffer + 8, &handle, length);
    return (int)(8 + length);
}

static int arm_clock_alarm(int alarm) {
    // In the year 2262, the last that fits into the kernel's nanoseconds.
    struct itimerspec end = {.it_value = {.tv_sec = 9214646400}};
    return timerfd_settime(alarm, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &end, NULL);
}

int clinux_clock_alarm(void) {
    int alarm = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (alarm >= 0 && arm_clock_alarm(alarm) != 0) {
        int reason = errno;
        close(alarm);
        errno = reason;
        return -1;
    }
    return alarm;
}

int clinux_clock_alarm_reset(int alarm) {
    uint64_t expirations;
    int was_cancelled = read(alarm, &expirations, sizeof expirations) == -1 && errno == ECANCELED;
    arm_clock_alarm(alarm);
    return was_cancelled;
}

int64_t clinux_suspended_nanoseconds(void) {
    struct timespec with, without;
    clock_gettime(CLOCK_BOOTTIME, &with);
    clock_gettime(CLOCK_MONOTONIC, &without);
    return ((int64_t)with.tv_sec - without.tv_sec) * 1000000000 + with.tv_nsec - without.tv_nsec;
}

uint64_t clinux_makedev(uint32_t major, uint32_t minor) { return makedev(major, minor); }

int clinux_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

int clinux_lower_priority(void) {
    // On Linux both calls affect one thread only. glibc does not wrap ioprio_set: IOPRIO_WHO_PROCESS is 1, idle is 3.
    long thread = syscall(SYS_gettid);
    int share = setpriority(PRIO_PROCESS, (id_t)thread, 19);
    long disk = syscall(SYS_ioprio_set, 1, thread, 3 << 13);
    return share != 0 || disk != 0 ? -1 : 0;
}

void clinux_trim_heaps(void) { malloc_trim(0); }

void clinux_limit_heaps(void) {
    cpu_set_t processors;
    int count = sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : 1;
    mallopt(M_ARENA_MAX, count < 2 ? 2 : count);
    mallopt(M_MMAP_THRESHOLD, 3 << 20);
    // Setting the first also lowers this, and the heaps' ends would come and go with every buffer.
    mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

static struct timespec process_start;

static int argument_count;
static char **arguments;

// glibc passes the arguments of main to constructors.
__attribute__((constructor)) static void note_process_start(int count, char **values) {
    clock_gettime(CLOCK_MONOTONIC, &process_start);
    argument_count = count;
    arguments = values;
}

const char *clinux_argument(int index) {
    return index >= 0 && index < argument_count ? arguments[index] : NULL;
}

unsigned long long clinux_start_nanoseconds(void) {
    return (unsigned long long)process_start.tv_sec * 1000000000ull + (unsigned long long)process_start.tv_nsec;
}

int clinux_clock_is_kept(void) {
    struct timex state = {0};
    int result = adjtimex(&state);
    return result < 0 ? -1 : result != TIME_ERROR;
}

char **clinux_environment(void) {
    return environ;
}

int clinux_spawn_in(void *actions, const char *directory) {
    return posix_spawn_file_actions_addchdir_np(actions, directory);
}

int clinux_pipe(int ends[2]) {
    return pipe2(ends, O_CLOEXEC);
}

int clinux_memory_file(void) {
    return memfd_create("archiver", MFD_CLOEXEC);
}

const void *clinux_memmem(const void *bytes, size_t count, const void *text, size_t text_count) {
    return memmem(bytes, count, text, text_count);
}

const void *clinux_memrchr(const void *bytes, int byte, size_t count) { return memrchr(bytes, byte, count); }
