"""Which cache is used: the platform's folder for caches, or what the environment says.

`NP2TF_CACHE=off` turns it off, `NP2TF_CACHE_DIR` names another folder, `NP2TF_CACHE_SIZE` the most megabytes.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from np2tf.imports.cache import Cache
from np2tf.imports.findings import Finding, Translation, warn
from np2tf.imports.fingerprint import key_of

if TYPE_CHECKING:
    from np2tf.options import Options

_MEGABYTES = 256


def cache() -> Cache | None:
    """The cache of this process, or None where it is turned off."""
    wanted = (os.environ.get("NP2TF_CACHE", "on"), os.environ.get("NP2TF_CACHE_DIR", ""))
    return _cache(*wanted, os.environ.get("NP2TF_CACHE_SIZE", ""))


@lru_cache(maxsize=8)
def _cache(switch: str, folder: str, megabytes: str) -> Cache | None:
    if switch.lower() in ("off", "0", "no", "false"):
        return None
    number = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*", megabytes)
    limit = int(float(number[1] if number else _MEGABYTES) * 1e6)
    if not folder:
        from platformdirs import user_cache_dir

        folder = user_cache_dir("np2tf", appauthor=False)
    return Cache(os.path.join(folder, "translations"), limit)


def translation(data: bytes, path: str, options: Options) -> Translation:
    """A module's translation, from the cache if it is there. Only a miss loads the translator."""
    kept = cache()
    if kept is None:
        return _made(data, path, options)
    key = key_of(data, path, options)
    found = kept.load(key)
    if found is not None:
        code, findings = found
        return Translation(code, tuple(Finding(*one) for one in findings))
    made = _made(data, path, options)
    if not any(one.code == "NP2TF905" for one in made.findings):
        kept.store(key, (made.code, tuple(map(tuple, made.findings))), _readable(made, path, key))
        _tell_problem(kept)
    return made


def _made(data: bytes, path: str, options: Options) -> Translation:
    from np2tf.imports.translation import translation_of

    return translation_of(data, path, options)


def _readable(made: Translation, path: str, key: str) -> str:
    """What a reader of the cache sees: where it comes from, what was said of it, and the translation."""
    from np2tf import __version__

    state = "translated" if made.code is not None else "runs as it is"
    head = [f"# {path}: {state} by np2tf {__version__}; {key}", *(f"# {one}" for one in made.findings)]
    return "\n".join([*(line.replace("\n", " ") for line in head), made.text])


def _tell_problem(kept: Cache) -> None:
    """Say once why translations are not kept."""
    if kept.problem is not None and kept not in _TOLD:
        _TOLD.append(kept)
        found = Finding.made("NP2TF943", kept.folder, 1, reason=kept.problem)
        warn(f"{found.code} {found.message}", kept.folder, 1)


_TOLD: list[Cache] = []
