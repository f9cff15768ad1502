"""The translations of a folder's sources in one file, valid while the sources do not change.

Without this file, the second import of a translated package costs more than a plain import, mostly because
every source is read and hashed, and one file is read for each translation. So the translations of a folder
are stored together as well, each with its source's size and times, as in Python's bytecode files. They form
one entry of the cache, which is written when the process ends.
"""

from __future__ import annotations

import atexit
import marshal
import os
import time
from typing import Any, NamedTuple

from np2tf.faults import note_fault
from np2tf.imports.cache.files import Cache, hash_of
from np2tf.imports.cache.fingerprint import begin_hash, key_from
from np2tf.imports.reporting.findings import Finding, Originals, Translation

#: A file changed less than this time ago (in ns) may change again without a new time stamp, because some file
#: systems have coarse time stamps.
_SETTLING_TIME = 2_000_000_000
#: The number of folders whose translations stay open; each takes a file descriptor.
_AT_HAND = 16


class FileState(NamedTuple):
    """The status of a file before it was read."""

    size: int
    inode: int
    modification_time: int
    change_time: int
    """The time in ns of the last change of its status, which nobody can set; on Windows, of its creation."""

    @classmethod
    def of(cls, path: str) -> FileState | None:
        """Return the file's present status; None if there is no such file."""
        try:
            status = os.stat(path)
        except OSError:
            return None
        return cls(status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)

    @property
    def is_settled(self) -> bool:
        """Return whether the file's next change will change its times."""
        return max(self.modification_time, self.change_time) < time.time_ns() - _SETTLING_TIME


class _Folder(NamedTuple):
    """The translations of one folder as they were read. A translation is decoded only when it is
    requested.
    """

    table: dict[str, tuple[Any, ...]]
    """Maps a file's name to its status, the start and end of its translation, and the translation's hash.

    The row is one flat tuple to spare the garbage collector work.
    """
    data: bytes | memoryview
    """The translations, each in the format of `_serialize`."""

    def get(self, name: str, state: FileState) -> bytes | memoryview | None:
        """Return the stored translation of a file with this status; None if there is none."""
        row = self.table.get(name)
        if row is None or row[:-3] != state:
            return None
        start, end, hash = row[-3:]
        blob = self.data[start:end]
        return blob if hash_of(blob) == hash else None


def _apart(path: str) -> tuple[str, str]:
    """Return a file's folder, with the separator, and its name."""
    name_start = path.rfind(os.sep) + 1
    return path[:name_start], path[name_start:]


def _serialize(translation: Translation) -> bytes:
    findings = tuple(map(tuple, translation.findings))
    value: Any = (
        translation.code,
        translation.own_code,
        translation.key,
        findings,
        tuple(translation.originals),
        translation.summary,
        translation.dependencies,
    )
    return marshal.dumps(value)


def _read(data: bytes | memoryview) -> Translation:
    code, own_code, key, finding_tuples, originals, summary, dependencies = marshal.loads(data)
    findings = tuple(map(Finding._make, finding_tuples))
    return Translation(code, findings, "", key, Originals._make(originals), own_code, summary, dependencies)


class Sources:
    """The translations, with the same options, of the modules that one process imports."""

    def __init__(self, cache: Cache, options: object) -> None:
        self._cache = cache
        self._hash = begin_hash(options)
        self._folders: dict[str, _Folder] = {}
        self._new: dict[str, dict[str, tuple[FileState, bytes]]] = {}

    def find(self, path: str, state: FileState | None) -> Translation | None:
        """Return the translation of a file, if neither the file nor a file that it depends on has changed
        since the translation was made.
        """
        folder, name = _apart(path)
        contents = self._folders.get(folder)
        if contents is None:
            if len(self._folders) >= _AT_HAND:
                del self._folders[next(iter(self._folders))]
            contents = self._folders[folder] = self._folder(folder)
        blob = None if state is None else contents.get(name, state)
        if blob is None:
            return None
        translation = _read(blob)
        is_current = all(FileState.of(path) == state for path, state in translation.dependencies)
        return translation if is_current else None

    def remember(self, path: str, state: FileState | None, translation: Translation) -> None:
        """Record the translation of a file that had the status `state` before it was read."""
        if state is None or not state.is_settled:
            return
        if not all(FileState(*there).is_settled for _, there in translation.dependencies):
            return
        if not self._new:
            atexit.register(self.write)
        folder, name = _apart(path)
        self._new.setdefault(folder, {})[name] = (state, _serialize(translation))

    def write(self) -> None:
        """Store new translations, together with valid translations that other processes have written in the
        meantime.
        """
        try:
            self._write()
        except Exception as error:
            note_fault(error)
        self._new.clear()

    def _write(self) -> None:
        for folder, new in self._new.items():
            there = self._folder(folder)
            table: dict[str, tuple[Any, ...]] = {}
            blobs: list[bytes | memoryview] = []
            end = 0
            for name in there.table.keys() | new.keys():
                state = FileState.of(folder + name)
                if state is None:
                    continue
                before, new_blob = new.get(name, (state, None))
                blob = new_blob if before == state and new_blob is not None else there.get(name, state)
                if blob is not None:
                    blobs.append(blob)
                    start, end = end, end + len(blob)
                    table[name] = (*state, start, end, hash_of(blob))
            self._cache.store(self._entry(folder), table, blobs=blobs)

    def _folder(self, folder: str) -> _Folder:
        table, data = self._cache.load_with_rest(self._entry(folder))
        return _Folder(table or {}, data)

    def _entry(self, folder: str) -> str:
        return key_from(self._hash, b"the sources of a folder", folder)
