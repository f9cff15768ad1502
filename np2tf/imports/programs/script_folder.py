"""The modules beside a script, which are found by their place and not by name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from np2tf.imports.hooks.hook import TranslatingFinder
from np2tf.options import Options


class BesideFinder(TranslatingFinder):
    """Translates the modules and packages that are directly in one folder.

    Packages in a virtual environment in that folder are not translated: `venv/lib/…/numpy` is not `numpy` in
    this folder.
    """

    def __init__(self, folder: str, exclude: Sequence[str] = (), options: Options | None = None) -> None:
        super().__init__(("*",), exclude, options)
        self.folder = Path(os.path.abspath(folder))

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        """Return a spec with the translating loader for a module in the folder, or None."""
        spec = super().find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return None
        top = fullname.partition(".")[0]
        origin = Path(os.path.abspath(spec.origin))
        inside = any(origin.is_relative_to(self.folder / name) for name in (top, f"{top}.py"))
        return spec if inside else None
