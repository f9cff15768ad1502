"""Which translation a source file has, as long as nobody has touched the file.

Reading and hashing all sources is a good part of what the second import of a translated package costs. So the
key under which a translation is kept is remembered with the source's size and times, as Python remembers
sources in its bytecode files. There is one entry of the cache for each folder of sources, written when the
process ends.
"""

from __future__ import annotations

import atexit
import os
import time
from typing import NamedTuple

from np2tf.imports.cache import Cache
from np2tf.imports.fingerprint import key_of

#: A file touched so shortly before (in ns) may be touched again, and show the same times: those of some file
#: systems are that coarse.
_SETTLED = 2_000_000_000


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


class Sources:
    """The keys of the translations of the sources that one process imports with the same options."""

    def __init__(self, cache: Cache, options: object) -> None:
        self._cache = cache
        self._options = options
        self._folders: dict[str, dict[str, tuple[Seen, str]]] = {}
        self._new: dict[str, dict[str, tuple[Seen, str]]] = {}

    def key(self, path: str, seen: Seen | None) -> str | None:
        """The key of the file's translation, if the file is as it was when that was made."""
        folder, name = os.path.split(path)
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = self._kept(folder)
        then, key = known.get(name, (None, None))
        return key if then == seen else None

    def remember(self, path: str, seen: Seen | None, key: str) -> None:
        """The translation of a file that was `seen` before it was read is kept under `key`."""
        if seen is None or not seen.is_settled:
            return
        if not self._new:
            atexit.register(self.write)
        folder, name = os.path.split(path)
        self._new.setdefault(folder, {})[name] = (seen, key)

    def write(self) -> None:
        """Keep what is new; what other processes have written in the meantime stays."""
        for folder, new in self._new.items():
            merged = {**self._kept(folder), **new}
            plain = {name: (tuple(seen), key) for name, (seen, key) in merged.items()}
            self._cache.store(self._entry(folder), plain)
        self._new.clear()

    def _entry(self, folder: str) -> str:
        return key_of(b"the sources of a folder", folder, self._options)

    def _kept(self, folder: str) -> dict[str, tuple[Seen, str]]:
        found = self._cache.load(self._entry(folder)) or {}
        return {name: (Seen(*seen), key) for name, (seen, key) in found.items()}
