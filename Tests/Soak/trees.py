"""Compares two trees."""

import os, stat


def differences(one, other):
    """The paths at which two trees differ, with the difference; directories' times are compared too."""
    found = []

    def look(path):
        a, b = os.path.join(one, path), os.path.join(other, path)
        left, right = os.lstat(a), os.lstat(b)
        for name in ["st_mode", "st_uid", "st_gid", "st_mtime_ns"]:
            if getattr(left, name) != getattr(right, name):
                found.append(f"{path}: {name} {getattr(left, name)}, restored {getattr(right, name)}")
        if left.st_mode != right.st_mode:
            return
        if stat.S_ISLNK(left.st_mode) and os.readlink(a) != os.readlink(b):
            found.append(f"{path}: the link's target")
        if stat.S_ISREG(left.st_mode):
            with open(a, "rb") as left_file, open(b, "rb") as right_file:
                if left_file.read() != right_file.read():
                    found.append(f"{path}: the content")
        if stat.S_ISDIR(left.st_mode):
            names = set(os.listdir(a))
            for name in sorted(names ^ set(os.listdir(b))):
                found.append(f"{os.path.join(path, name)}: only {'in the tree' if name in names else 'restored'}")
            for name in sorted(names & set(os.listdir(b))):
                look(os.path.join(path, name))

    look("")
    return found
