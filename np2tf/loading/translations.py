"""The translations of modules: one file a folder, valid while the sources do not change; only a miss loads
the translator.
"""

from __future__ import annotations

import atexit
import marshal
import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from np2tf.core.cache import Cache, begin_hash, cache, hash_of, key_from, key_of
from np2tf.core.faults import note_fault
from np2tf.loading.findings import Finding, Originals, Translation, warn
from np2tf.translator.sources.candidates import is_candidate
from np2tf.translator.sources.names_between_files import Reexports, read_file

if TYPE_CHECKING:
    from np2tf.translator.sources.options import Options


# -- sources -------------------------------------------------------------------------------------------------
# The translations of a folder's sources in one file, valid while the sources do not change.
#
# Without this file, the second import of a translated package costs more than a plain import, mostly
# because every source is read and hashed, and one file is read for each translation. So the translations of
# a folder are stored together as well, each with its source's size and times, as in Python's bytecode
# files. They form one entry of the cache, which is written when the process ends.

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
        translation.is_source,
    )
    return marshal.dumps(value)


def _read(data: bytes | memoryview) -> Translation:
    code, own_code, key, finding_tuples, originals, *rest = marshal.loads(data)
    findings = tuple(map(Finding._make, finding_tuples))
    return Translation(code, findings, "", key, Originals._make(originals), own_code, *rest)


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


# -- store ---------------------------------------------------------------------------------------------------
# The translations of modules: from the cache, or made by the translator if the sources have changed.


def prepare(options: Options) -> None:
    """Do the work that is needed once per process now, so that the first import does not take its time."""
    disk_cache = cache()
    if disk_cache is not None:
        _sources(disk_cache, options)
        disk_cache.is_trusted()


def translation(
    path: str,
    read_data: Callable[[str], bytes],
    options: Options,
    own_code: Callable[[], CodeType | None] = lambda: None,
    waits: bool = False,
) -> Translation:
    """Return a module's translation, from the cache if possible. Only a miss loads the translator.

    Args:
        read_data: returns the bytes of a file; its OSError reaches the caller.
        own_code: compiles the untranslated module. It is called if there is nothing to translate, so that the
            code is stored with the translations and not in a further file; its errors reach the caller.
        waits: whether the module starts as its source, if that is possible.
    """
    disk_cache = cache()
    if disk_cache is None:
        data = read_data(path)
        options, _ = _with_reexports(data, path, options)
        source_code = _source_code(data, path, options) if waits else None
        return source_code or _deserialize(data, path, options, key_of(data, path, options))
    # What a source reads from NumPy must be there for it to run as it is.
    sources = _sources(disk_cache, (options, np.__version__) if waits else options)
    state = FileState.of(path)
    result = sources.find(path, state)
    if result is None:
        data = read_data(path)
        options, dependencies = _with_reexports(data, path, options)
        if not _is_candidate(data, options):
            result = Translation(None, (), own_code=own_code())
        else:
            made = None
            if waits:
                key = key_of(data, path, (options, np.__version__))
                made = _kept_or_made(disk_cache, path, key, lambda: _source_code(data, path, options))
                made = made and made._replace(is_source=True)
            if made is None:
                key = key_of(data, path, options)
                made = _kept_or_made(disk_cache, path, key, lambda: _deserialize(data, path, options, key))
            assert made is not None
            result = made._replace(dependencies=dependencies)
        if _is_lasting(result):
            sources.remember(path, state, result)
    return result


def _is_candidate(data: bytes, options: Options) -> bool:
    return bool(options.reexports) or is_candidate(data.decode(errors="replace"))


def _with_reexports(
    data: bytes, path: str, options: Options
) -> tuple[Options, tuple[tuple[str, tuple[int, ...]], ...]]:
    """Return the options with the names of NumPy that a module imports from other modules, and the status of
    the files that bind them.
    """
    reexports = Reexports(read_file)
    names = reexports.of(Path(path), data)
    if not names:
        return options, ()
    states = {str(file): FileState.of(str(file)) for file in reexports.parsed_files}
    dependencies = tuple((file, tuple(state)) for file, state in states.items() if state is not None)
    return replace(options, reexports=names), dependencies


def _kept_or_made(
    cache: Cache, path: str, key: str, make: Callable[[], Translation | None]
) -> Translation | None:
    """Return the translation under a key of the cache; if there is none, store what `make` returns."""
    entry = cache.load(key)
    if entry is not None:
        code, findings, originals, summary = entry
        finding_objects = tuple(map(Finding._make, findings))
        return Translation(
            code, finding_objects, key=key, originals=Originals._make(originals), summary=summary
        )
    result = make()
    if result is not None and _is_lasting(result):
        value = result.code, tuple(map(tuple, result.findings)), tuple(result.originals), result.summary
        cache.store(key, value, _readable(result, path))
        _tell_problem(cache)
    return result


def _is_lasting(translation: Translation) -> bool:
    """Return whether a translation may be stored. A fault of np2tf may be fixed in its next version."""
    return not any(finding.code == "NP2TF905" for finding in translation.findings)


@lru_cache(maxsize=8)
def _sources(cache: Cache, options: object) -> Sources:
    return Sources(cache, options)


def _source_code(data: bytes, path: str, options: Options) -> Translation | None:
    """Return the code of a source that is translated where it is hot; None if it must be translated, or has
    nothing to translate.
    """
    if not _is_candidate(data, options):
        return None
    from np2tf.loading.code.source_code import source_code

    return source_code(data, path)


def _deserialize(data: bytes, path: str, options: Options, key: str) -> Translation:
    if not _is_candidate(data, options):
        return Translation(None, ())
    from np2tf.loading.code.translation import translation_of

    return translation_of(data, path, options)._replace(key=key)


def _readable(translation: Translation, path: str) -> str:
    """Return the readable file of a translation: its source, its findings, and its text."""
    from np2tf import __version__

    is_translated = translation.code is not None and not translation.is_source
    state = "translated" if is_translated else "runs as it is"
    head = [
        f"# {path}: {state} by np2tf {__version__}; {translation.key}",
        *(f"# {finding}" for finding in translation.findings),
    ]
    return "\n".join([*(line.replace("\n", " ") for line in head), translation.text])


def _tell_problem(cache: Cache) -> None:
    """Warn once why translations are not stored."""
    if cache.problem is not None and cache not in _REPORTED_CACHES:
        _REPORTED_CACHES.append(cache)
        finding = Finding.create("NP2TF943", cache.folder, 1, reason=cache.problem)
        warn(f"{finding.code} {finding.message}", cache.folder, 1)


_REPORTED_CACHES: list[Cache] = []
