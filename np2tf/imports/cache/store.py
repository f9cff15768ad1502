"""The translations of modules: from the cache, or made by the translator if the sources have changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING

from np2tf.candidates import is_candidate
from np2tf.imports.cache.files import Cache, cache
from np2tf.imports.cache.fingerprint import key_of
from np2tf.imports.cache.sources import FileState, Sources
from np2tf.imports.reporting.findings import Finding, Originals, Translation, warn
from np2tf.linking.reexports import Reexports, read_file

if TYPE_CHECKING:
    from np2tf.options import Options


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
) -> Translation:
    """Return a module's translation, from the cache if possible. Only a miss loads the translator.

    Args:
        path: the source file.
        read_data: returns the bytes of a file; its OSError reaches the caller.
        options: the options of the translation.
        own_code: compiles the untranslated module. It is called if there is nothing to translate, so that the
            code is stored with the translations and not in a further file; its errors reach the caller.
    """
    disk_cache = cache()
    if disk_cache is None:
        data = read_data(path)
        options, _ = _with_reexports(data, path, options)
        return _deserialize(data, path, options, key_of(data, path, options))
    sources = _sources(disk_cache, options)
    state = FileState.of(path)
    result = sources.find(path, state)
    if result is None:
        data = read_data(path)
        options, dependencies = _with_reexports(data, path, options)
        if options.reexports or is_candidate(data.decode(errors="replace")):
            result = _kept_or_made(disk_cache, data, path, options)._replace(dependencies=dependencies)
        else:
            result = Translation(None, (), own_code=own_code())
        if _is_lasting(result):
            sources.remember(path, state, result)
    return result


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


def _kept_or_made(cache: Cache, data: bytes, path: str, options: Options) -> Translation:
    key = key_of(data, path, options)
    entry = cache.load(key)
    if entry is not None:
        code, findings, originals, summary = entry
        finding_objects = tuple(map(Finding._make, findings))
        return Translation(
            code, finding_objects, key=key, originals=Originals._make(originals), summary=summary
        )
    result = _deserialize(data, path, options, key)
    if _is_lasting(result):
        value = result.code, tuple(map(tuple, result.findings)), tuple(result.originals), result.summary
        cache.store(key, value, _readable(result, path))
        _tell_problem(cache)
    return result


def _is_lasting(translation: Translation) -> bool:
    """Return whether a translation may be stored. A fault of np2tf may be fixed in its next version."""
    return not any(finding.code == "NP2TF905" for finding in translation.findings)


@lru_cache(maxsize=8)
def _sources(cache: Cache, options: Options) -> Sources:
    return Sources(cache, options)


def _deserialize(data: bytes, path: str, options: Options, key: str) -> Translation:
    if not options.reexports and not is_candidate(data.decode(errors="replace")):
        return Translation(None, ())
    from np2tf.imports.code.translation import translation_of

    return translation_of(data, path, options)._replace(key=key)


def _readable(translation: Translation, path: str) -> str:
    """Return the readable file of a translation: its source, its findings, and its text."""
    from np2tf import __version__

    state = "translated" if translation.code is not None else "runs as it is"
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
