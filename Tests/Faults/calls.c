// The system calls into which faults can be injected: calls on files, on x86-64.

#include "faults.h"

#include <sys/syscall.h>

#ifdef __x86_64__

const struct call calls[] = {
    // number, name, effect, descriptor, path, directory, other path, other directory
    {SYS_open, "open", OPENS, -1, 0, -1, -1, -1},
    {SYS_creat, "creat", UNRECORDED, -1, 0, -1, -1, -1},
    {SYS_openat, "openat", OPENS, -1, 1, 0, -1, -1},
    {SYS_openat2, "openat2", OPENS, -1, 1, 0, -1, -1},
    {SYS_read, "read", READS, 0, -1, -1, -1, -1},
    {SYS_pread64, "pread64", READS, 0, -1, -1, -1, -1},
    {SYS_readv, "readv", READS, 0, -1, -1, -1, -1},
    {SYS_preadv, "preadv", READS, 0, -1, -1, -1, -1},
    {SYS_getdents64, "getdents64", READS, 0, -1, -1, -1, -1},
    {SYS_write, "write", WRITES, 0, -1, -1, -1, -1},
    {SYS_pwrite64, "pwrite64", WRITES, 0, -1, -1, -1, -1},
    {SYS_writev, "writev", UNRECORDED, 0, -1, -1, -1, -1},
    {SYS_pwritev, "pwritev", UNRECORDED, 0, -1, -1, -1, -1},
    {SYS_copy_file_range, "copy_file_range", UNRECORDED, 2, -1, -1, -1, -1},
    {SYS_sendfile, "sendfile", UNRECORDED, 0, -1, -1, -1, -1},
    // Only the ballast is allocated; it is as good without its zeros.
    {SYS_fallocate, "fallocate", CHANGES, 0, -1, -1, -1, -1},
    {SYS_ftruncate, "ftruncate", TRUNCATES, 0, -1, -1, -1, -1},
    {SYS_truncate, "truncate", UNRECORDED, -1, 0, -1, -1, -1},
    {SYS_fsync, "fsync", SYNCS, 0, -1, -1, -1, -1},
    {SYS_fdatasync, "fdatasync", SYNCS, 0, -1, -1, -1, -1},
    {SYS_syncfs, "syncfs", SYNCS, 0, -1, -1, -1, -1},
    {SYS_sync_file_range, "sync_file_range", LOOKS, 0, -1, -1, -1, -1},
    {SYS_mkdir, "mkdir", MAKES_DIRECTORY, -1, 0, -1, -1, -1},
    {SYS_mkdirat, "mkdirat", MAKES_DIRECTORY, -1, 1, 0, -1, -1},
    {SYS_mknodat, "mknodat", CHANGES, -1, 1, 0, -1, -1},
    {SYS_symlink, "symlink", LINKS_SYMBOLICALLY, -1, 1, -1, -1, -1},
    {SYS_symlinkat, "symlinkat", LINKS_SYMBOLICALLY, -1, 2, 1, -1, -1},
    {SYS_link, "link", LINKS, -1, 1, -1, 0, -1},
    {SYS_linkat, "linkat", LINKS, -1, 3, 2, 1, 0},
    {SYS_unlink, "unlink", UNLINKS, -1, 0, -1, -1, -1},
    {SYS_unlinkat, "unlinkat", UNLINKS, -1, 1, 0, -1, -1},
    {SYS_rmdir, "rmdir", UNLINKS, -1, 0, -1, -1, -1},
    {SYS_rename, "rename", RENAMES, -1, 1, -1, 0, -1},
    {SYS_renameat, "renameat", RENAMES, -1, 3, 2, 1, 0},
    {SYS_renameat2, "renameat2", RENAMES, -1, 3, 2, 1, 0},
    {SYS_flock, "flock", LOCKS, 0, -1, -1, -1, -1},
    {SYS_fcntl, "fcntl", LOCKS, 0, -1, -1, -1, -1},
    {SYS_lseek, "lseek", LOOKS, 0, -1, -1, -1, -1},
    {SYS_stat, "stat", LOOKS, -1, 0, -1, -1, -1},
    {SYS_lstat, "lstat", LOOKS, -1, 0, -1, -1, -1},
    {SYS_fstat, "fstat", LOOKS, 0, -1, -1, -1, -1},
    {SYS_newfstatat, "newfstatat", LOOKS, -1, 1, 0, -1, -1},
    {SYS_statx, "statx", LOOKS, -1, 1, 0, -1, -1},
    {SYS_access, "access", LOOKS, -1, 0, -1, -1, -1},
    {SYS_faccessat, "faccessat", LOOKS, -1, 1, 0, -1, -1},
    {SYS_faccessat2, "faccessat2", LOOKS, -1, 1, 0, -1, -1},
    {SYS_readlink, "readlink", LOOKS, -1, 0, -1, -1, -1},
    {SYS_readlinkat, "readlinkat", LOOKS, -1, 1, 0, -1, -1},
    {SYS_statfs, "statfs", LOOKS, -1, 0, -1, -1, -1},
    {SYS_fstatfs, "fstatfs", LOOKS, 0, -1, -1, -1, -1},
    {SYS_chmod, "chmod", CHANGES, -1, 0, -1, -1, -1},
    {SYS_fchmod, "fchmod", CHANGES, 0, -1, -1, -1, -1},
    {SYS_fchmodat, "fchmodat", CHANGES, -1, 1, 0, -1, -1},
    {SYS_chown, "chown", CHANGES, -1, 0, -1, -1, -1},
    {SYS_lchown, "lchown", CHANGES, -1, 0, -1, -1, -1},
    {SYS_fchown, "fchown", CHANGES, 0, -1, -1, -1, -1},
    {SYS_fchownat, "fchownat", CHANGES, -1, 1, 0, -1, -1},
    {SYS_utimensat, "utimensat", CHANGES, -1, 1, 0, -1, -1},
    {SYS_setxattr, "setxattr", CHANGES, -1, 0, -1, -1, -1},
    {SYS_lsetxattr, "lsetxattr", CHANGES, -1, 0, -1, -1, -1},
    {SYS_fsetxattr, "fsetxattr", CHANGES, 0, -1, -1, -1, -1},
    {SYS_removexattr, "removexattr", CHANGES, -1, 0, -1, -1, -1},
    {SYS_lremovexattr, "lremovexattr", CHANGES, -1, 0, -1, -1, -1},
    {SYS_fremovexattr, "fremovexattr", CHANGES, 0, -1, -1, -1, -1},
    {SYS_getxattr, "getxattr", LOOKS, -1, 0, -1, -1, -1},
    {SYS_lgetxattr, "lgetxattr", LOOKS, -1, 0, -1, -1, -1},
    {SYS_fgetxattr, "fgetxattr", LOOKS, 0, -1, -1, -1, -1},
    {SYS_listxattr, "listxattr", LOOKS, -1, 0, -1, -1, -1},
    {SYS_llistxattr, "llistxattr", LOOKS, -1, 0, -1, -1, -1},
    {SYS_flistxattr, "flistxattr", LOOKS, 0, -1, -1, -1, -1},
    {SYS_inotify_add_watch, "inotify_add_watch", LOOKS, -1, 1, -1, -1, -1},
};

const size_t callCount = sizeof calls / sizeof *calls;

#else

const struct call calls[1];
const size_t callCount = 0;

#endif

const struct call *callNumbered(long number) {
    for (size_t index = 0; index < callCount; index++)
        if (calls[index].number == number) return &calls[index];
    return NULL;
}
