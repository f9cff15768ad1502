"""The loader of translated modules: importlib's own, with a translation before the compilation."""

from __future__ import annotations

import importlib.machinery
import linecache
import types
import warnings
from typing import Any

from np2tf.diagnostics import Diagnostic
from np2tf.options import Options
from np2tf.translate import translate
from np2tf.tree.source import Source, SourceError


class TranslationWarning(UserWarning):
    """Something in an imported module was left on NumPy."""


class TranslatingLoader(importlib.machinery.SourceFileLoader):
    """Loads a module from its source file, translated; the file is only read."""

    def __init__(self, fullname: str, path: str, options: Options | None = None) -> None:
        super().__init__(fullname, path)
        self.options = options
        self.diagnostics: list[Diagnostic] = []

    def get_code(self, fullname: str) -> types.CodeType:
        """Compile the translation; Python's own bytecode files belong to the original and are not used."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> types.CodeType:  # type: ignore[override]
        """Translate and compile; a file that cannot be translated is compiled as it is, with a warning."""
        try:
            result = translate(Source.of(data, path), self.options or Options())
        except SourceError as error:
            warnings.warn(f"{error}; the module runs untranslated", TranslationWarning, stacklevel=2)
            return super().source_to_code(data, path)
        self.diagnostics = list(result.diagnostics)
        if not result.changed:
            return super().source_to_code(data, path)
        # The lines of the translation are not those of the file: tracebacks get a file name and text of
        # their own.
        name = f"{path} (translated)"
        linecache.cache[name] = (len(result.text), None, result.text.splitlines(True), name)
        return compile(result.text, name, "exec", dont_inherit=True, optimize=_optimize)
