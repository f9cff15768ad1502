"""The files that are known to stay as they are, and what is to be said of them.

Kept in the cache of translations, in a folder of their own. The key is a hash of the file's content and path,
of the options and of the translator itself, so that nothing in it can be out of date.
"""

from __future__ import annotations

import os

from np2tf.conversion.tasks import Done, Task
from np2tf.diagnostics import Diagnostic
from np2tf.imports.cache import store
from np2tf.imports.cache.files import Cache
from np2tf.imports.cache.fingerprint import begin_hash, key_from


class Unchanged:
    """What is known of files.

    Args:
        is_used: whether anything is looked up or kept.
    """

    def __init__(self, is_used: bool = True) -> None:
        self._cache: Cache | None = store.unchanged_files_cache() if is_used else None

    def find(self, task: Task) -> Done | None:
        """What becomes of a file that stays as it is, if that is known."""
        if self._cache is None:
            return None
        found = self._cache.load(self._key(task))
        if not isinstance(found, list):
            return None
        path = str(task.path)
        diagnostics = [Diagnostic(code, path, line, column, args) for code, line, column, args in found]
        return Done(task.path, diagnostics)

    def keep(self, task: Task, done: Done) -> None:
        """Take note of what has become of a file."""
        if self._cache is None or done.changed or done.failed:
            return
        told = [(one.code, one.line, one.column, one.args) for one in done.diagnostics]
        self._cache.store(self._key(task), told)

    def _key(self, task: Task) -> str:
        return key_from(begin_hash(("unchanged", task.options)), task.data, os.path.abspath(task.path))
