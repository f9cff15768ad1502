"""The settings that apply to a file, and what follows from them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from np2tf.configuration.patterns import spec_of
from np2tf.diagnostics import codes
from np2tf.options import LINE_LENGTH, Options

#: Hidden folders, environments, and what builds, package managers and Python itself leave behind.
DEFAULT_EXCLUDE = (
    *(".*/", "__pycache__/", "__pypackages__/", "_build/", "buck-out/", "build/", "dist/", "env/"),
    *("node_modules/", "site-packages/", "venv/"),
)
DEFAULT_INCLUDE = ("*.py",)
#: The prefix that every code begins with: all of them are selected.
EVERY_CODE = "NP2TF"
DEFAULT = "the default"
COMMAND_LINE = "the command line"


@dataclass(frozen=True)
class Settings:
    """What one configuration says, completed by defaults and by the command line."""

    folder: Path
    """Patterns are relative to it: where the configuration lies, or the current folder without one."""
    target: str = "np2tf"
    jit: bool = True
    line_length: int = LINE_LENGTH
    select: tuple[str, ...] = (EVERY_CODE,)
    """Beginnings of codes; among those of `select` and `ignore` that fit a code the longest decides."""
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Patterns of files, each with beginnings of codes; `!pattern` is every other file."""
    include: tuple[str, ...] = DEFAULT_INCLUDE
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    file: Path | None = None
    """The configuration; None where there is none."""
    told_by: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Key, as it is spelled in TOML -> where its value comes from; a default is not in it."""

    def options(self) -> Options:
        """What the translator is told."""
        return Options(jit=self.jit, line_length=self.line_length, target=self.target)

    def is_selected(self, code: str, path: str | os.PathLike[str]) -> bool:
        """Whether a finding of this code in this file is to be shown.

        Errors, for which a file is left alone, always are.
        """
        known = codes().get(code)
        if known is not None and known.severity == "error":
            return True
        chosen = max((len(one) for one in self.select if code.startswith(one)), default=-1)
        refused = max((len(one) for one in self.ignore if code.startswith(one)), default=-1)
        if chosen <= refused:
            return False
        for pattern, ignored in self.per_file_ignores:
            if code.startswith(ignored) and self._matches(pattern, path):
                return False
        return True

    def relative(self, path: str | os.PathLike[str]) -> str | None:
        """A path as patterns see it; None for what lies elsewhere."""
        try:
            return Path(os.path.abspath(path)).relative_to(self.folder).as_posix()
        except ValueError:
            return None

    def _matches(self, pattern: str, path: str | os.PathLike[str]) -> bool:
        inside = self.relative(path)
        if inside is None:
            return False
        if pattern.startswith("!"):
            return not spec_of((pattern[1:],)).match_file(inside)
        return spec_of((pattern,)).match_file(inside)
