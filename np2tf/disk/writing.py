"""Write a file in one step: at every moment there is either the old file or the new file."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


def write(path: Path, data: bytes, like: Path | None = None) -> None:
    """Write a file. If the path is a symbolic link, its target is written.

    An existing file keeps its owners, permissions and extended attributes. A new file gets the executable
    bits of `like`, if that is given.

    Raises:
        OSError: the file cannot be written, or only with a change of its owners. The old file is unchanged.
    """
    path = Path(os.path.realpath(path))
    before = path.stat() if path.exists() else None
    if before is not None and not os.access(path, os.W_OK):
        raise PermissionError(None, "the file is read-only")
    handle, temporary = tempfile.mkstemp(".np2tf", f".{path.name[:40]}.", path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if before is not None:
            _keep_owners(temporary, before)
            shutil.copystat(path, temporary)
            os.utime(temporary)
        else:
            os.chmod(temporary, 0o666 & ~_umask() | (_executable(like) & ~_umask()))
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _keep_owners(temporary: str, before: os.stat_result) -> None:
    if not hasattr(os, "chown"):
        return
    now = os.stat(temporary)
    if (now.st_uid, now.st_gid) == (before.st_uid, before.st_gid):
        return
    try:
        os.chown(temporary, before.st_uid, before.st_gid)
    except PermissionError:
        raise PermissionError(None, "its owner and group cannot be kept") from None


def _executable(like: Path | None) -> int:
    """Return the permission bits of a file that let it be executed; 0 for None."""
    everybody = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
    return like.stat().st_mode & everybody if like is not None else 0


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
