"""The data that a translation depends on besides the source: the rules, the translator itself, and Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from importlib.util import MAGIC_NUMBER

#: The version of the cache's format.
FORMAT = 9
#: The folders of the translator in the package; in a checkout they change without a new version.
_PARTS = ("operators", "tree", "facts", "linking", "rewrites", "imports")
_TOP = frozenset(
    {
        *("pipeline.py", "options.py", "rules.py", "diagnostics.py", "candidates.py", "draws.py"),
        "__init__.py",
    }
)


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
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
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
