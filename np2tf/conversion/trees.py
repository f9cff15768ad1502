"""Where the translations of a tree are written, and which other files of the tree are copied."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from np2tf.disk.discovery import FoundFile


class TargetError(ValueError):
    """Translations cannot be written to a folder without a loss."""


def targets(files: Sequence[FoundFile], out: Path) -> dict[Path, Path]:
    """Return the target of each file, which has the same place below `out` as the file below its root.

    Raises:
        TargetError: two files have the same target, or a target is one of the source files.
    """
    source_by_target: dict[str, Path] = {}
    target_paths: dict[Path, Path] = {}
    sources = {os.path.realpath(file.path) for file in files}
    for file in files:
        target = out / file.path.relative_to(file.root)
        real = os.path.realpath(target)
        if real in source_by_target:
            raise TargetError(f"{source_by_target[real]} and {file.path} would both be written to {target}")
        if real in sources:
            raise TargetError(f"{target} is one of the sources; `--write` translates in place")
        source_by_target[real] = file.path
        target_paths[file.path] = target
    return target_paths


def copy(path: Path, target: Path) -> None:
    """Copy a file with its permissions and times.

    Raises:
        OSError: the file cannot be copied.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, target)
