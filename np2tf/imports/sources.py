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
from typing import Any, NamedTuple

from np2tf.imports.cache import Cache, Parts
from np2tf.imports.findings import Finding, Translation
from np2tf.imports.fingerprint import key_of

#: A file touched so shortly before (in ns) may be touched again, and show the same times: those of some file
#: systems are that coarse.
_SETTLED = 2_000_000_000
#: Of so many folders the translations are at hand; each takes a file descriptor.
_AT_HAND = 16


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
    """One source's translation."""

    code: bytes | memoryview
    """As marshal writes it; empty for none."""
    key: str
    """Empty where there was nothing to translate: then the code is the module's own."""
    findings: tuple[Any, ...]


class _Folder(NamedTuple):
    """The translations of one folder as they are read: nothing is made of what is not asked for."""

    table: dict[str, tuple[Any, ...]]
    """Name -> what was seen of the file, the number of the code's part, key, findings: in one tuple, for
    the garbage collector counts them."""
    parts: Parts
    """The table, and the codes."""

    def get(self, name: str, seen: Seen) -> _Kept | None:
        """The translation of the file that is seen so."""
        row = self.table.get(name)
        if row is None or row[:-3] != seen:
            return None
        number, key, findings = row[-3:]
        code = self.parts.get(number)
        return None if code is None else _Kept(code, key, findings)


_EMPTY = _Folder({}, Parts())


class Sources:
    """The translations, with the same options, of what one process imports."""

    def __init__(self, cache: Cache, options: object) -> None:
        self._cache = cache
        self._options = options
        self._folders: dict[str, _Folder] = {}
        self._new: dict[str, dict[str, tuple[Seen, _Kept]]] = {}

    def find(self, path: str, seen: Seen | None) -> Translation | None:
        """The translation of a file, if the file is as it was when that was made."""
        folder, name = os.path.split(path)
        known = self._folders.get(folder)
        if known is None:
            if len(self._folders) >= _AT_HAND:
                del self._folders[next(iter(self._folders))]
            known = self._folders[folder] = self._read(folder)
        found = None if seen is None else known.get(name, seen)
        if found is None:
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
        new = _Kept(written, made.key, tuple(map(tuple, made.findings)))
        self._new.setdefault(folder, {})[name] = (seen, new)

    def write(self) -> None:
        """Keep what is new, and what other processes have written in the meantime if it still holds."""
        for folder, new in self._new.items():
            there = self._read(folder)
            table: dict[str, tuple[Any, ...]] = {}
            codes: list[bytes | memoryview] = []
            for name in there.table.keys() | new.keys():
                seen = Seen.of(os.path.join(folder, name))
                if seen is None:
                    continue
                before, kept = new.get(name, (seen, None))
                kept = kept if before == seen and kept is not None else there.get(name, seen)
                if kept is not None:
                    codes.append(kept.code)
                    table[name] = (*seen, len(codes), kept.key, kept.findings)
            self._cache.store_parts(self._entry(folder), [marshal.dumps(table), *codes])
        self._new.clear()

    def _read(self, folder: str) -> _Folder:
        parts = self._cache.load_parts(self._entry(folder))
        table = parts.get(0)
        return _EMPTY if table is None else _Folder(marshal.loads(table), parts)

    def _entry(self, folder: str) -> str:
        return key_of(b"the sources of a folder", folder, self._options)
