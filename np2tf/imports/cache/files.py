"""Translations on disk: two files each, `<key>.py` to read and `<key>.bin` to run.

The key is a hash of all that a translation depends on (`fingerprint.key_of`), and the file to run begins with
its key and with a hash of its value. What is not the user's own, or does not agree with its key and hash, is
as good as absent. Files appear in one step, so that any number of processes may share the folder.
"""

from __future__ import annotations

import marshal
import mmap
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib.util import source_hash
from struct import Struct
from struct import error as StructError
from typing import Any, NamedTuple

_MAGIC = b"np2tf translation\n"
#: What stands before the value: the magic, the key, and the value's length and hash.
_HEAD = Struct(f"<{len(_MAGIC)}s40sQ8s")
#: Python's own hash for sources in bytecode files, three times as fast as SHA-256. It finds damage; that only
#: the user can have written a file is what `_own_content` sees to.
hash_of: Callable[[bytes | memoryview], bytes] = source_hash  # type: ignore[assignment]
_NAME = re.compile(r"[0-9a-f]{40}\.(py|bin)|[0-9a-f]{40}\.[^.]+\.tmp")
#: An entry's time is renewed at a use when it is older than this: the oldest go first.
_RENEWED_AFTER = 24 * 3600.0
#: How a file is opened: itself, not what a link points to.
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
#: Of a mode: what kind of file it is, and whether others may write to it.
_KIND_AND_WRITERS = 0o170000 | stat.S_IWGRP | stat.S_IWOTH
#: From so many bytes on, a file is mapped.
_MAPPED_FROM = 1 << 16
#: Files left over by a process that died while writing.
_STALE_AFTER = 3600.0
#: The size is looked at after the first write of a process, and then after so many more.
_LOOK_EVERY = 50


class Entry(NamedTuple):
    """One file in the cache."""

    path: str
    size: int
    used: float


class Cache:
    """The translations in one folder."""

    def __init__(self, folder: str, limit: int) -> None:
        """`limit` is in bytes; a cache may grow a little beyond it between two looks at its size."""
        self.folder = os.path.realpath(folder)
        self.limit = limit
        self.problem: str | None = None
        """Why nothing could be written."""
        self._writes = 0
        self._trusted: bool | None = None

    # -- reading ---------------------------------------------------------------------------------------------

    def load(self, key: str) -> Any:
        """What was stored under `key`, or None; only this user's whole, unchanged file is an entry."""
        return self.load_with_rest(key)[0]

    def load_with_rest(self, key: str) -> tuple[Any, bytes | memoryview]:
        """The same, and what was stored behind the value: as it stands in the file, not looked at yet."""
        if not self.is_trusted():
            return None, b""
        try:
            content = _own_content(f"{self.folder}{os.sep}{key}.bin")
            magic, own_key, length, hash = _HEAD.unpack_from(content)
            end = _HEAD.size + length
            value = content[_HEAD.size : end]
            if magic == _MAGIC and own_key == key.encode() and hash_of(value) == hash:
                return marshal.loads(value), content[end:]
        except (OSError, StructError, EOFError, ValueError, TypeError):
            pass
        return None, b""

    def is_trusted(self) -> bool:
        """Whether nobody else can put files into the folder; only a folder that exists is remembered."""
        if self._trusted is None:
            try:
                status = os.lstat(self.folder)
            except OSError:
                return False
            self._trusted = _is_own(status, stat.S_IFDIR)
            if not self._trusted:
                self.problem = f"{self.folder} is not a folder that only you can write to"
        return self._trusted

    # -- writing ---------------------------------------------------------------------------------------------

    def store(
        self, key: str, value: Any, text: str | None = None, rest: Iterable[bytes | memoryview] = ()
    ) -> None:
        """Keep `value` under `key`, `text` beside it for readers, and `rest` behind it for `load_with_rest`.

        What cannot be written is not kept.
        """
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            if not self.is_trusted():
                return
            if text is not None:
                self._write(f"{key}.py", text.encode("utf-8", "backslashreplace"))
            written = marshal.dumps(value)
            head = _HEAD.pack(_MAGIC, key.encode(), len(written), hash_of(written))
            self._write(f"{key}.bin", b"".join((head, written, *rest)))
        except OSError as error:
            self.problem = f"{self.folder}: {error.strerror or error}"
            return
        self._writes += 1
        if self._writes % _LOOK_EVERY == 1:
            self.shrink()

    def _write(self, name: str, content: bytes) -> None:
        # Files of mkstemp are the user's alone; a link under the final name is replaced, never followed.
        handle, temporary = tempfile.mkstemp(".tmp", name.split(".")[0] + ".", self.folder)
        try:
            with open(handle, "wb") as file:
                file.write(content)
            os.replace(temporary, os.path.join(self.folder, name))
        except BaseException:
            _remove(temporary)
            raise

    # -- keeping house ---------------------------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """The cache's files; other files in the folder are not touched."""
        try:
            found = list(os.scandir(self.folder))
        except OSError:
            return
        for file in found:
            if _NAME.fullmatch(file.name):
                try:
                    status = file.stat(follow_symlinks=False)
                except OSError:  # another process has just removed it
                    continue
                yield Entry(file.path, status.st_size, status.st_mtime)

    def shrink(self) -> None:
        """Remove what was used least recently, until the cache is well below its limit again."""
        entries = list(self._finished_entries())
        size = sum(entry.size for entry in entries)
        if size <= self.limit:
            return
        # Both files of a translation go together; the time of use is that of the file that is run.
        by_key: dict[str, list[Entry]] = {}
        for entry in entries:
            by_key.setdefault(os.path.basename(entry.path)[:40], []).append(entry)
        for files in sorted(by_key.values(), key=lambda files: max(file.used for file in files)):
            if size <= 0.8 * self.limit:
                break
            for file in files:
                _remove(file.path)
                size -= file.size

    def clear(self) -> int:
        """Remove every entry; returns how many files there were."""
        entries = list(self._finished_entries())
        for entry in entries:
            _remove(entry.path)
        return len(entries)

    def _finished_entries(self) -> Iterator[Entry]:
        """The entries, less what other processes are writing just now; what dead ones left is removed."""
        for entry in list(self.entries()):
            if not entry.path.endswith(".tmp"):
                yield entry
            elif time.time() - entry.used > _STALE_AFTER:
                _remove(entry.path)


def _own_content(path: str) -> memoryview:
    """What is in a plain file that only this user can have written; nothing if it is another."""
    handle = os.open(path, _FLAGS)
    try:
        status = os.fstat(handle)
        if not _is_own(status, stat.S_IFREG):
            return memoryview(b"")
        if time.time() - status.st_mtime > _RENEWED_AFTER and os.utime in os.supports_fd:
            os.utime(handle)
        if status.st_size < _MAPPED_FROM or os.name == "nt":  # Windows replaces no file that is mapped
            return memoryview(os.read(handle, status.st_size))
        # A large file stays where the system has it, which takes half the time.
        flags = mmap.MAP_PRIVATE | getattr(mmap, "MAP_POPULATE", 0)
        return memoryview(mmap.mmap(handle, status.st_size, flags=flags, prot=mmap.PROT_READ))
    finally:
        os.close(handle)


def _is_own(status: os.stat_result, kind: int) -> bool:
    """Whether this is a file or folder of that kind, the user's own, that nobody else may write to."""
    if os.name == "nt":  # the folder is below the user's profile, and modes mean little
        return stat.S_IFMT(status.st_mode) == kind
    return status.st_mode & _KIND_AND_WRITERS == kind and status.st_uid == os.geteuid()


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):  # another process was faster
        os.unlink(path)
