"""Translations on disk: two files each, `<key>.py` to read and `<key>.bin` to run.

The key is a hash of all that a translation depends on (`fingerprint.key_of`), and the file to run begins with
its key and with a hash of each of its parts. What is not the user's own, or does not agree with its key and
hash, is as good as absent. Files appear in one step, so that any number of processes may share the folder.
"""

from __future__ import annotations

import marshal
import mmap
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import source_hash
from struct import Struct
from typing import Any, NamedTuple

_MAGIC = b"np2tf translation\n"
#: How many parts there are, and then for each its length and its hash. The hash is Python's own for sources
#: in bytecode files, three times as fast as SHA-256. It finds damage; that only the user can have written
#: the file is what `_own_parts` sees to.
_COUNT, _PART = Struct("<Q"), Struct("<Q8s")
_NAME = re.compile(r"[0-9a-f]{40}\.(py|bin)|[0-9a-f]{40}\.[^.]+\.tmp")
#: An entry's time is renewed at a use when it is older than this: the oldest go first.
_RENEWED_AFTER = 24 * 3600.0
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


class Parts:
    """The parts of a file as they were read; each is looked at when it is asked for."""

    def __init__(self, hashes: Sequence[bytes] = (), stored: Sequence[memoryview] = ()) -> None:
        self._hashes = hashes
        self._stored = stored

    def get(self, number: int) -> memoryview | None:
        """What was written as this part; None if it is not there, or is not what was read."""
        if number >= len(self._stored):
            return None
        stored = self._stored[number]
        return stored if source_hash(stored) == self._hashes[number] else None  # type: ignore[arg-type]


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
        content = self.load_parts(key).get(0)
        if content is None:
            return None
        try:
            return marshal.loads(content)
        except (EOFError, ValueError, TypeError):
            return None

    def load_parts(self, key: str) -> Parts:
        """What `store_parts` has stored under `key`; no parts if that is not there."""
        if self._is_trusted():
            with suppress(OSError):
                return _own_parts(os.path.join(self.folder, f"{key}.bin"), _head(key))
        return Parts()

    def _is_trusted(self) -> bool:
        """Whether nobody else can put files into the folder; only a folder that exists is remembered."""
        if self._trusted is None:
            try:
                status = os.lstat(self.folder)
            except OSError:
                return False
            self._trusted = stat.S_ISDIR(status.st_mode) and _is_own(status)
            if not self._trusted:
                self.problem = f"{self.folder} is not a folder that only you can write to"
        return self._trusted

    # -- writing ---------------------------------------------------------------------------------------------

    def store(self, key: str, value: Any, text: str) -> None:
        """Keep `value` under `key`, and `text` beside it for readers. What cannot be written is not kept."""
        self.store_parts(key, [marshal.dumps(value)], text)

    def store_parts(self, key: str, parts: Sequence[bytes | memoryview], text: str | None = None) -> None:
        """The same for several values, each of which is read when it is asked for; `text` may be left out."""
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            if not self._is_trusted():
                return
            if text is not None:
                self._write(f"{key}.py", text.encode("utf-8", "backslashreplace"))
            table = [_PART.pack(len(part), source_hash(part)) for part in parts]
            self._write(f"{key}.bin", b"".join((_head(key), _COUNT.pack(len(parts)), *table, *parts)))
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
        entries = list(self._finished())
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
        entries = list(self._finished())
        for entry in entries:
            _remove(entry.path)
        return len(entries)

    def _finished(self) -> Iterator[Entry]:
        """The entries, less what other processes are writing just now; what dead ones left is removed."""
        for entry in list(self.entries()):
            if not entry.path.endswith(".tmp"):
                yield entry
            elif time.time() - entry.used > _STALE_AFTER:
                _remove(entry.path)


def _own_parts(path: str, head: bytes) -> Parts:
    """The parts of a plain file that only this user can have written, and that begins with `head`."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or not _is_own(status):
            return Parts()
        if time.time() - status.st_mtime > _RENEWED_AFTER and os.utime in os.supports_fd:
            os.utime(handle)
        whole = memoryview(_content(handle, status.st_size))
    finally:
        os.close(handle)
    place = len(head) + _COUNT.size
    if len(whole) < place or whole[: len(head)] != head:
        return Parts()
    (count,) = _COUNT.unpack_from(whole, len(head))
    table = whole[place : place + count * _PART.size]
    place += len(table)
    hashes, stored = [], []
    for length, hash in _PART.iter_unpack(table[: len(table) // _PART.size * _PART.size]):
        hashes.append(hash)
        stored.append(whole[place : place + length])
        place += length
    return Parts(hashes, stored)


def _content(handle: int, size: int) -> mmap.mmap | bytes:
    """A file's bytes; those of a large one stay where the system has them, which takes half the time."""
    if size < _MAPPED_FROM or os.name == "nt":  # Windows replaces no file that is mapped
        return os.read(handle, size)
    flags = mmap.MAP_PRIVATE | getattr(mmap, "MAP_POPULATE", 0)
    return mmap.mmap(handle, size, flags=flags, prot=mmap.PROT_READ)


def _head(key: str) -> bytes:
    return _MAGIC + key.encode() + b"\n"


def _is_own(status: os.stat_result) -> bool:
    """Whether a file or folder is this user's, and nobody else may write to it."""
    if not hasattr(os, "geteuid"):  # Windows: the folder is below the user's profile
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):  # another process was faster
        os.unlink(path)
