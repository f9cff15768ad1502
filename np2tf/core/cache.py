"""The caches on disk: where they are, what their keys depend on, how an entry is written and trusted."""

from __future__ import annotations

import marshal
import mmap
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from importlib.util import MAGIC_NUMBER, source_hash
from struct import Struct
from struct import error as StructError
from typing import Any, NamedTuple

# -- fingerprint ---------------------------------------------------------------------------------------------
# The data that a translation depends on besides the source: the rules, the translator itself, and Python.

#: The version of the cache's format.
FORMAT = 10
#: The folders of the translator in the package; in a checkout they change without a new version.
_PARTS = ("core", "translator", "loading")
_TOP = frozenset({"__init__.py"})


@lru_cache(maxsize=1)
def fingerprint() -> bytes:
    """Return a hash of the version, the rules, the translator and this Python; it takes a millisecond per
    process.
    """
    whole = blake2b(digest_size=20)
    python = (FORMAT, sys.implementation.cache_tag, MAGIC_NUMBER, sys.flags.optimize)
    whole.update(repr(python).encode())
    for path in _files():
        with open(path, "rb", buffering=0) as file:
            content = file.read()
        whole.update(f"{os.path.basename(path)} {len(content)}\n".encode())
        whole.update(content)
    return whole.digest()


def _files() -> Iterator[str]:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for rules in (os.path.join(package, "rules"), os.path.join(os.path.dirname(package), "rules")):
        if os.path.isfile(os.path.join(rules, "diagnostics.toml")):
            yield from _in(rules, os.listdir(rules), ".toml")
            break
    yield from _in(package, _TOP, ".py")
    for part in _PARTS:
        for folder, _, names in sorted(os.walk(os.path.join(package, part))):
            yield from _in(folder, names, ".py")


def _in(folder: str, names: Iterable[str], suffix: str) -> Iterator[str]:
    return (os.path.join(folder, name) for name in sorted(names) if name.endswith(suffix))


def key_of(data: bytes, path: str, options: object) -> str:
    """Return the key of a translation, which changes with all data that the translation depends on."""
    return key_from(begin_hash(options), data, path)


def begin_hash(options: object) -> blake2b:
    """Return the hash of the data that all sources with these options share."""
    return blake2b(fingerprint() + repr(options).encode() + b"\n", digest_size=20)


def key_from(first_digest: blake2b, data: bytes, path: str) -> str:
    """Return the same as `key_of`, from the hash that `begin_hash` returned."""
    whole = first_digest.copy()
    for part in (path.encode("utf-8", "surrogatepass"), data):
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


# -- files ---------------------------------------------------------------------------------------------------
# The caches on disk, of translations, of decisions and of traces.
#
# A translation has two files: `<key>.py` to read and `<key>.bin` to run.
#
# The key is a hash of all data that the translation depends on (`key_of`). The file to run
# begins with its key and a hash of its value. A file that is not the user's own, or does not agree with its
# key and hash, counts as absent. Files appear in one step, so that any number of processes may share the
# folder.

_MAGIC = b"np2tf translation\n"
#: The header of the value: the magic, the key, and the value's length and hash.
_HEAD = Struct(f"<{len(_MAGIC)}s40sQ8s")
#: Python's own hash for sources in bytecode files, three times as fast as SHA-256. The hash detects damage;
#: `_own_content` checks that only the user can have written the file.
hash_of: Callable[[bytes | memoryview], bytes] = source_hash  # type: ignore[assignment]
_NAME = re.compile(r"[0-9a-f]{40}\.(py|bin)|[0-9a-f]{40}\.[^.]+\.tmp")
#: A use renews an entry's time if it is older than this; `shrink` removes the oldest entries first.
_RENEWED_AFTER = 24 * 3600.0
#: Flags that open a file itself, not the target of a link.
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
#: The bits of a mode for the kind of the file and for write access of others.
_KIND_AND_WRITERS = 0o170000 | stat.S_IWGRP | stat.S_IWOTH
#: Files of at least this many bytes are mapped into memory.
_MAPPED_FROM = 1 << 16
#: The age in seconds from which a temporary file is a leftover of a dead process.
_STALE_AFTER = 3600.0
#: The cache's size is checked after the first write of a process, and then after this many more.
_LOOK_EVERY = 50


class Entry(NamedTuple):
    """One file in the cache."""

    path: str
    size: int
    last_use: float


class Cache:
    """The translations in one folder."""

    def __init__(self, folder: str, limit: int) -> None:
        """Use the files in `folder`; between checks of their size they may exceed `limit` bytes a little."""
        self.folder = os.path.realpath(folder)
        self.limit = limit
        self.problem: str | None = None
        """The reason why nothing could be written; None if there is none."""
        self._writes = 0
        self._trusted: bool | None = None

    # -- reading ---------------------------------------------------------------------------------------------

    def load(self, key: str) -> Any:
        """Return the value stored under `key`, or None. Only a complete, unchanged file of this user
        counts.
        """
        return self.load_with_rest(key)[0]

    def load_with_rest(self, key: str) -> tuple[Any, bytes | memoryview]:
        """Return the value stored under `key`, and the unchecked bytes stored behind it."""
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
        """Return whether nobody else can put files into the folder. The answer is stored if the folder
        exists.
        """
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
        self, key: str, value: Any, text: str | None = None, blobs: Iterable[bytes | memoryview] = ()
    ) -> None:
        """Store `value` under `key`, a readable `text` beside it, and `blobs` behind it for `load_with_rest`.

        If the files cannot be written, `problem` says why.
        """
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            if not self.is_trusted():
                return
            if text is not None:
                self._write(f"{key}.py", text.encode("utf-8", "backslashreplace"))
            data = marshal.dumps(value)
            head = _HEAD.pack(_MAGIC, key.encode(), len(data), hash_of(data))
            self._write(f"{key}.bin", b"".join((head, data, *blobs)))
        except OSError as error:
            self.problem = f"{self.folder}: {error.strerror or error}"
            return
        self._writes += 1
        if self._writes % _LOOK_EVERY == 1:
            self.shrink()

    def _write(self, name: str, content: bytes) -> None:
        # Only the user can read files of mkstemp; a link under the final name is replaced, never followed.
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
        """Yield the cache's files; other files in the folder are ignored."""
        try:
            files = list(os.scandir(self.folder))
        except OSError:
            return
        for file in files:
            if _NAME.fullmatch(file.name):
                try:
                    status = file.stat(follow_symlinks=False)
                except OSError:  # another process has just removed it
                    continue
                yield Entry(file.path, status.st_size, status.st_mtime)

    def shrink(self) -> None:
        """Remove the least recently used translations until the cache is well below its limit."""
        entries = list(self._finished_entries())
        size = sum(entry.size for entry in entries)
        if size <= self.limit:
            return
        # Both files of a translation are removed together; the file to run has the time of use.
        by_key: dict[str, list[Entry]] = {}
        for entry in entries:
            by_key.setdefault(os.path.basename(entry.path)[:40], []).append(entry)
        for files in sorted(by_key.values(), key=lambda files: max(file.last_use for file in files)):
            if size <= 0.8 * self.limit:
                break
            for file in files:
                _remove(file.path)
                size -= file.size

    def clear(self) -> int:
        """Remove every entry, and return the number of files."""
        entries = list(self._finished_entries())
        for entry in entries:
            _remove(entry.path)
        return len(entries)

    def _finished_entries(self) -> Iterator[Entry]:
        """Yield the complete entries, and remove temporary files of dead processes."""
        for entry in list(self.entries()):
            if not entry.path.endswith(".tmp"):
                yield entry
            elif time.time() - entry.last_use > _STALE_AFTER:
                _remove(entry.path)


def _own_content(path: str) -> memoryview:
    """Return the content of a plain file that only this user can have written; nothing for any other file."""
    handle = os.open(path, _FLAGS)
    try:
        status = os.fstat(handle)
        if not _is_own(status, stat.S_IFREG):
            return memoryview(b"")
        if time.time() - status.st_mtime > _RENEWED_AFTER and os.utime in os.supports_fd:
            os.utime(handle)
        if status.st_size < _MAPPED_FROM or os.name == "nt":  # Windows replaces no file that is mapped
            return memoryview(os.read(handle, status.st_size))
        # A large file is mapped instead of copied, which takes half the time.
        flags = mmap.MAP_PRIVATE | getattr(mmap, "MAP_POPULATE", 0)
        return memoryview(mmap.mmap(handle, status.st_size, flags=flags, prot=mmap.PROT_READ))
    finally:
        os.close(handle)


def _is_own(status: os.stat_result, kind: int) -> bool:
    """Return whether a file or folder of this kind belongs to the user, and nobody else may write to it."""
    if os.name == "nt":  # the folder is below the user's profile, and modes mean little
        return stat.S_IFMT(status.st_mode) == kind
    return status.st_mode & _KIND_AND_WRITERS == kind and status.st_uid == os.geteuid()


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):  # another process has removed it
        os.unlink(path)


# -- the caches of this process ------------------------------------------------------------------------------
# They lie in the platform's folder for caches, or in the folder that the environment names. `NP2TF_CACHE=off`
# turns them off, `NP2TF_DECISIONS=off` the parts for decisions and traces. `NP2TF_CACHE_DIR` names another
# folder, `NP2TF_CACHE_SIZE` the limit in megabytes.

_MEGABYTES = 256
_OFF = ("off", "0", "no", "false")


@lru_cache(maxsize=1)
def cache() -> Cache | None:
    """Return the cache of translations of this process, or None if the cache is turned off."""
    return _cache("translations")


@lru_cache(maxsize=1)
def decisions() -> Cache | None:
    """Return the cache of decisions (`np2tf.staging.tiers.history`), which can be turned off by
    itself.
    """
    if _is_off("NP2TF_DECISIONS"):
        return None
    return _cache("decisions")


def traces() -> Cache | None:
    """Return the cache of traces (`np2tf.staging.compile.stored_traces`), which is turned off with the
    decisions.
    """
    return None if _is_off("NP2TF_DECISIONS") else _cache("traces")


def unchanged_files_cache() -> Cache | None:
    """Return the cache of files that stay as they are (`np2tf.translator.batch.batch`)."""
    return _cache("unchanged", share=1 / 16)  # the files are small, and there may be many


def _is_off(variable: str) -> bool:
    return os.environ.get(variable, "on").lower() in _OFF


def _cache(part: str, share: float = 1.0) -> Cache | None:
    if _is_off("NP2TF_CACHE"):
        return None
    folder = os.environ.get("NP2TF_CACHE_DIR", "")
    number = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*", os.environ.get("NP2TF_CACHE_SIZE", ""))
    limit = int(float(number[1] if number else _MEGABYTES) * 1e6 * share)
    if not folder:
        from platformdirs import user_cache_dir

        folder = user_cache_dir("np2tf", appauthor=False)
    return Cache(os.path.join(folder, part), limit)
