"""The translations of a folder's sources in one piece, for as long as nobody touches the sources.

Reading and hashing every source, and a file for each translation, were most of what the second import of a
translated package cost more than the plain one. So the translations of a folder are kept together as well,
each with its source's size and times, as Python keeps them in its bytecode files. They are one entry of the
cache, written when the process ends.
"""

from __future__ import annotations

import atexit
import marshal
import os
import time
from struct import Struct
from typing import Any, NamedTuple

from np2tf.imports.cache import Cache
from np2tf.imports.findings import Finding, Translation
from np2tf.imports.fingerprint import key_of

#: A file touched so shortly before (in ns) may be touched again, and show the same times: those of some file
#: systems are that coarse.
_SETTLED = 2_000_000_000
#: An entry begins with the length of its table, which the codes follow.
_LENGTH = Struct("<Q")


class Seen(NamedTuple):
    """A file as it was before it was read."""

    size: int
    inode: int
    modified: int
    changed: int
    """Time of the last change of its status, which nobody can set; of its creation on Windows. In ns."""

    @classmethod
    def of(cls, path: str) -> Seen | None:
        """The file as it is now; None if it is none."""
        try:
            status = os.stat(path)
        except OSError:
            return None
        return cls(status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)

    @property
    def is_settled(self) -> bool:
        """Whether the next change will show."""
        return max(self.modified, self.changed) < time.time_ns() - _SETTLED


class _Kept(NamedTuple):
    """One source's translation, as marshal takes it."""

    seen: tuple[int, ...]
    key: str
    """Empty where there was nothing to translate: then the code is the module's own."""
    findings: tuple[Any, ...]
    code: bytes | memoryview
    """As marshal writes it; empty for none."""


class _Folder(NamedTuple):
    """The translations of one folder as they are read: nothing is made of what is not asked for."""

    table: dict[str, tuple[tuple[int, ...], str, tuple[Any, ...], int, int]]
    """Name -> what `_Kept` has, with the place and the length of the code."""
    codes: memoryview

    def get(self, name: str) -> _Kept | None:
        found = self.table.get(name)
        if found is None:
            return None
        seen, key, findings, start, length = found
        return _Kept(seen, key, findings, self.codes[start : start + length])


_EMPTY = _Folder({}, memoryview(b""))


class Sources:
    """The translations, with the same options, of what one process imports."""

    def __init__(self, cache: Cache, options: object) -> None:
        self._cache = cache
        self._options = options
        self._folders: dict[str, _Folder] = {}
        self._new: dict[str, dict[str, _Kept]] = {}

    def find(self, path: str, seen: Seen | None) -> Translation | None:
        """The translation of a file, if the file is as it was when that was made."""
        folder, name = os.path.split(path)
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = self._read(folder)
        found = known.get(name)
        if found is None or found.seen != seen:
            return None
        code = marshal.loads(found.code) if found.code else None
        if not found.key:
            return Translation(None, (), own_code=code)
        return Translation(code, tuple(map(Finding._make, found.findings)), key=found.key)

    def remember(self, path: str, seen: Seen | None, made: Translation) -> None:
        """A file that was `seen` before it was read has this translation."""
        if seen is None or not seen.is_settled:
            return
        if not self._new:
            atexit.register(self.write)
        folder, name = os.path.split(path)
        code = made.code or made.own_code
        written = b"" if code is None else marshal.dumps(code)
        new = _Kept(tuple(seen), made.key, tuple(map(tuple, made.findings)), written)
        self._new.setdefault(folder, {})[name] = new

    def write(self) -> None:
        """Keep what is new, and what other processes have written in the meantime if it still holds."""
        for folder, new in self._new.items():
            there = self._read(folder)
            index, codes, start = {}, [], 0
            for name in there.table.keys() | new.keys():
                kept = new.get(name) or there.get(name)
                if kept is not None and kept.seen == Seen.of(os.path.join(folder, name)):
                    index[name] = (*kept[:3], start, len(kept.code))
                    codes.append(kept.code)
                    start += len(kept.code)
            head = marshal.dumps(index)
            self._cache.store_bytes(self._entry(folder), b"".join([_LENGTH.pack(len(head)), head, *codes]))
        self._new.clear()

    def _read(self, folder: str) -> _Folder:
        content = self._cache.load_bytes(self._entry(folder))
        if content is None:
            return _EMPTY
        start = _LENGTH.size + _LENGTH.unpack_from(content)[0]
        return _Folder(marshal.loads(content[_LENGTH.size : start]), content[start:])

    def _entry(self, folder: str) -> str:
        return key_of(b"the sources of a folder", folder, self._options)
