"""The files that a translation is known not to change, with their findings.

The cache of translations keeps them in a folder of their own. The key is a hash of the file's content and
path, of the options and of the translator itself, so that an entry is never out of date.
"""

from __future__ import annotations

import os
from hashlib import blake2b

from np2tf.conversion.tasks import Task, TaskResult
from np2tf.diagnostics import Diagnostic
from np2tf.imports.cache.files import Cache, unchanged_files_cache
from np2tf.imports.cache.fingerprint import begin_hash, key_from
from np2tf.options import Options


class UnchangedFiles:
    """Looks up files that a translation does not change, and records them.

    Args:
        is_used: False turns off looking up and recording.
    """

    def __init__(self, is_used: bool = True) -> None:
        self._cache: Cache | None = unchanged_files_cache() if is_used else None
        self._hashes: dict[Options, blake2b] = {}

    def is_empty(self) -> bool:
        """Return whether nothing is recorded, or the cache is turned off."""
        return self._cache is None or not os.path.isdir(self._cache.folder)

    def find(self, task: Task) -> TaskResult | None:
        """Return the result of a task whose file is known not to change; None if that is not known."""
        if self._cache is None:
            return None
        entries = self._cache.load(self._key(task))
        if not isinstance(entries, list):
            return None
        path = str(task.path)
        diagnostics = [Diagnostic(code, path, line, column, args) for code, line, column, args in entries]
        return TaskResult(task.path, diagnostics)

    def keep(self, task: Task, result: TaskResult) -> None:
        """Record the result of a task, if its file does not change and has not failed."""
        if self._cache is None or result.changed or result.failed:
            return
        entries = [
            (finding.code, finding.line, finding.column, finding.args) for finding in result.diagnostics
        ]
        self._cache.store(self._key(task), entries)

    def _key(self, task: Task) -> str:
        first_digest = self._hashes.get(task.options)
        if first_digest is None:
            first_digest = self._hashes[task.options] = begin_hash(("unchanged", task.options))
        return key_from(first_digest, task.data, os.path.abspath(task.path))
