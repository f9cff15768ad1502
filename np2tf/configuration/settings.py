"""The settings that apply to a file, and their effect."""

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
#: Every code begins with this prefix, so that it selects all codes.
EVERY_CODE = "NP2TF"
DEFAULT = "the default"
COMMAND_LINE = "the command line"


@dataclass(frozen=True)
class Settings:
    """The values of one configuration, completed by defaults and by the command line."""

    folder: Path
    """The folder of the configuration, or else the current folder. Patterns are relative to it."""
    target: str = "np2tf"
    jit: bool = True
    line_length: int = LINE_LENGTH
    select: tuple[str, ...] = (EVERY_CODE,)
    """Beginnings of codes. Of those in `select` and `ignore` that fit a code, the longest decides."""
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Patterns of files, each with beginnings of codes. `!pattern` matches files that `pattern` does not."""
    include: tuple[str, ...] = DEFAULT_INCLUDE
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    file: Path | None = None
    """The configuration file; None if there is none."""
    told_by: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Key, as TOML spells it -> where its value comes from. Keys with default values are missing."""

    def options(self) -> Options:
        """Return the options of the translator."""
        return Options(jit=self.jit, line_length=self.line_length, target=self.target)

    def is_selected(self, code: str, path: str | os.PathLike[str]) -> bool:
        """Return whether a finding of this code in this file is shown.

        Errors, for which a file is left alone, are always shown.
        """
        entry = codes().get(code)
        if entry is not None and entry.severity == "error":
            return True
        select_length = max((len(prefix) for prefix in self.select if code.startswith(prefix)), default=-1)
        ignore_length = max((len(prefix) for prefix in self.ignore if code.startswith(prefix)), default=-1)
        if select_length <= ignore_length:
            return False
        for pattern, prefixes in self.per_file_ignores:
            if code.startswith(prefixes) and self._matches(pattern, path):
                return False
        return True

    def relative(self, path: str | os.PathLike[str]) -> str | None:
        """Return a path relative to the configuration's folder, with slashes; None if it is not below that
        folder.
        """
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
