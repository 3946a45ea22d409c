#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x00001000U
#endif

_Static_assert(CLINUX_O_PATH == O_PATH, "O_PATH");
_Static_assert(CLINUX_O_NOATIME == O_NOATIME, "O_NOATIME");
_Static_assert(CLINUX_AT_EMPTY_PATH == AT_EMPTY_PATH, "AT_EMPTY_PATH");
_Static_assert(CLINUX_AT_SYMLINK_NOFOLLOW == AT_SYMLINK_NOFOLLOW, "AT_SYMLINK_NOFOLLOW");
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
    // EAGAIN: a rename elsewhere made the kernel unsure that the path stayed beneath (openat2(2)).
    do result = syscall(SYS_openat2, directory, path, &how, sizeof how);
    while (result == -1 && (errno == EAGAIN || errno == EINTR));
    return (int)result;
}

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

int clinux_duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }

int clinux_openat(int directory, const char *path, int flags, uint32_t mode) {
    return openat(directory, path, flags, mode);
}

int clinux_bytes_waiting(int descriptor) {
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) == 0 ? count : -1;
}

uint64_t clinux_makedev(uint32_t major, uint32_t minor) { return makedev(major, minor); }
