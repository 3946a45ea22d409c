// Linux system calls and constants that Swift's Glibc module does not export, in plain C types.
// Each function returns the system call's result; on -1 the reason is in errno.
#ifndef CLINUX_H
#define CLINUX_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/types.h>
#include <time.h>

/// The fields of statx(2)'s result that archiver uses.
struct clinux_status {
    uint32_t mode;          ///< type and permission bits, as in st_mode
    uint32_t uid;
    uint32_t gid;
    uint32_t links;
    uint64_t inode;
    uint64_t size;          ///< bytes
    uint64_t blocks;        ///< units of 512 bytes
    uint64_t device;        ///< the containing file system, as makedev returns it
    uint64_t special;       ///< the device number of a special file, as makedev returns it
    uint64_t mount;         ///< mount id, 0 if the kernel does not report it
    uint64_t attributes;    ///< STATX_ATTR_*
    int64_t modified_seconds;
    int64_t changed_seconds;
    uint32_t modified_nanoseconds;
    uint32_t changed_nanoseconds;
};

/// statx(2) with STATX_BASIC_STATS and the mount id.
int clinux_statx(int directory, const char *path, int flags, struct clinux_status *out);

/// Identifies the object of a descriptor: the file system's id, the inode and its time of birth. A new object with the
/// same inode has another one; a renamed object has the same one. Returns -1 if the file system has no times of birth.
int clinux_identity(int descriptor, void *bytes, size_t count);
#define CLINUX_IDENTITY_SIZE 28

/// getdents64(2): fills `buffer` with directory records; returns their length in bytes, 0 at the end.
ssize_t clinux_getdents(int directory, void *buffer, size_t capacity);

/// openat2(2) with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS.
int clinux_open_beneath(int directory, const char *path, uint64_t flags, uint32_t mode);

/// renameat2(2); `flags` is 0, CLINUX_RENAME_NOREPLACE or CLINUX_RENAME_EXCHANGE.
int clinux_rename(int from_directory, const char *from, int to_directory, const char *to, unsigned int flags);

/// lgetxattr(2), llistxattr(2), lsetxattr(2), lremovexattr(2), and the same by descriptor.
ssize_t clinux_lgetxattr(const char *path, const char *name, void *value, size_t size);
ssize_t clinux_llistxattr(const char *path, char *list, size_t size);
int clinux_lsetxattr(const char *path, const char *name, const void *value, size_t size);
int clinux_lremovexattr(const char *path, const char *name);
ssize_t clinux_fgetxattr(int descriptor, const char *name, void *value, size_t size);
ssize_t clinux_flistxattr(int descriptor, char *list, size_t size);
int clinux_fsetxattr(int descriptor, const char *name, const void *value, size_t size);
int clinux_fremovexattr(int descriptor, const char *name);

/// statfs(2)'s f_type of the file system that holds the descriptor's file, or -1.
int64_t clinux_file_system_magic(int descriptor);

/// syncfs(2).
int clinux_synchronize_file_system(int descriptor);

/// Bytes that an ordinary user can still write on the file system of the descriptor's file (fstatvfs(3)), or -1.
int64_t clinux_free_bytes(int descriptor);

/// The size in bytes of the file system that holds the descriptor's file, used and free (fstatvfs(3)), or -1.
int64_t clinux_total_bytes(int descriptor);

/// A second descriptor of the same open file, closed on exec (fcntl(2), F_DUPFD_CLOEXEC).
int clinux_duplicate(int descriptor);

/// Takes or gives up a shared lock of the open file description on the whole file (fcntl_locking(2), F_OFD_SETLK).
int clinux_mark(int descriptor, int is_marked);

/// Whether another open file description has such a lock on the file (F_OFD_GETLK): 1, 0, or -1.
int clinux_is_marked_elsewhere(int descriptor);

/// open(2) and openat(2) without C's variable arguments.
int clinux_openat(int directory, const char *path, int flags, uint32_t mode);

/// ioctl(FIONREAD): bytes waiting to be read, or -1.
int clinux_bytes_waiting(int descriptor);

/// sync_file_range(2): the kernel starts writing a part of a file to the disk.
int clinux_begin_writing(int descriptor, int64_t start, int64_t count);

/// The process's environment variables (environ(7)).
char **clinux_environment(void);

/// posix_spawn_file_actions_addchdir_np(3): starts the program in `directory`. `actions` is a
/// posix_spawn_file_actions_t.
int clinux_spawn_in(void *actions, const char *directory);

/// pipe2(2) with O_CLOEXEC.
int clinux_pipe(int ends[2]);

/// memfd_create(2): an empty file without a name, closed on exec, or -1.
int clinux_memory_file(void);

/// ppoll(2) without a change of the signal mask: poll(2) with a limit in nanoseconds, or no limit if it is null.
int clinux_poll(struct pollfd *files, int count, const struct timespec *limit);

/// accept4(2) with SOCK_CLOEXEC.
int clinux_accept(int listener);

/// Gives the calling thread the least share of processor and disk (setpriority(2), ioprio_set(2)).
int clinux_lower_priority(void);

/// Returns the free memory of the C library's heaps to the system (malloc_trim(3)).
void clinux_trim_heaps(void);

/// Has buffers of 3 MiB and more go back to the system when they are freed, and there are as many heaps as
/// processors (mallopt(3)). Otherwise the C library takes the like of the first that is freed from its heaps, and they leave
/// holes there; and each thread has its own, which keeps what it needed at most.
void clinux_limit_heaps(void);

/// 1 if a time service synchronizes the clock, 0 if none does (adjtimex(2)), -1 if the system does not report it.
int clinux_clock_is_kept(void);

/// The process's argument at `index`, where 0 is the program's name; NULL if it has no more.
///
/// Swift's `CommandLine` searches for the arguments below the environment, and finds none if a preloaded library has
/// changed that before `main`.
const char *clinux_argument(int index);

/// CLOCK_MONOTONIC in nanoseconds when the process's own code started to run, before `main`.
unsigned long long clinux_start_nanoseconds(void);

/// fanotify_init(2) for an unprivileged group that reports directories and names; fails with EMFILE, ENOSYS, EINVAL or
/// EPERM.
int clinux_fanotify_init(void);

/// fanotify_mark(2): adds the bits of `mask` to the mark of the open directory itself.
int clinux_fanotify_mark(int group, int directory, uint64_t mask);

/// fanotify_mark(2): removes all marks of the group.
int clinux_fanotify_flush(int group);

/// The open file's identity as fanotify events carry it: file system id (8 bytes), handle length (4), handle type (4),
/// handle. Returns the bytes written to `buffer`, which must hold CLINUX_MAX_IDENTITY, or -1 (name_to_handle_at(2)).
int clinux_fanotify_identity(int descriptor, void *buffer);

/// timerfd_create(2): a descriptor that becomes readable only when the wall clock is set or the machine wakes up.
int clinux_clock_alarm(void);

/// Resets a clock alarm, so that it is not readable until the next event; returns 1 if it was readable.
int clinux_clock_alarm_reset(int alarm);

/// Nanoseconds that the machine has been suspended since it was started: CLOCK_BOOTTIME minus CLOCK_MONOTONIC.
int64_t clinux_suspended_nanoseconds(void);

/// A device number from major and minor, in glibc's 64-bit encoding (makedev(3)).
uint64_t clinux_makedev(uint32_t major, uint32_t minor);

enum {
    CLINUX_O_PATH = 010000000,
    CLINUX_O_NOATIME = 01000000,
    CLINUX_AT_EMPTY_PATH = 0x1000,
    CLINUX_AT_SYMLINK_NOFOLLOW = 0x100,
    CLINUX_RENAME_NOREPLACE = 1,
    CLINUX_RENAME_EXCHANGE = 2,
    CLINUX_SEEK_DATA = 3,
    CLINUX_SEEK_HOLE = 4,
    CLINUX_MAX_IDENTITY = 16 + 128,
    CLINUX_FAN_EVENT_ON_CHILD = 0x08000000,
};

/// memmem(3): the first place of `text` in `bytes`, or NULL.
const void *clinux_memmem(const void *bytes, size_t count, const void *text, size_t text_count);

/// memrchr(3): the last place of a byte in `bytes`, or NULL.
const void *clinux_memrchr(const void *bytes, int byte, size_t count);

#endif
