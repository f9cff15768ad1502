"""Converts the sources below a folder, and says what is wrong with what came out: a program, run by itself.

    python published_sources.py FOLDER [NUMBER]

NUMBER takes so many of the files, spread over all of them. Prints one JSON object. The sources must be only
read: an audit hook sees if any source is imported or executed, or anything is written.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from np2tf.files import translated_bytes
from np2tf.options import Options
from np2tf.pipeline import translate
from np2tf.tree.source import Source

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Watch:
    """Sees what a process does with the files below a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.seen: list[str] = []
        sys.addaudithook(self)

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "exec" and getattr(args[0], "co_filename", "").startswith((self.folder, "<translation>")):
            self.seen.append(f"executed {args[0].co_filename}")
        elif event == "import" and str(args[1] or "").startswith(self.folder):
            self.seen.append(f"imported {args[1]}")
        elif event == "open" and isinstance(args[2], int) and args[2] & _WRITING:
            self.seen.append(f"wrote {args[0]}")


def wrong_with(data: bytes, path: Path, root: Path, counts: Counter[str]) -> list[str]:
    """Return the problems of one file's translation."""
    made = translated_bytes(data, path, root, Options(), True)
    counts["files"] += 1
    counts["lines"] += data.count(b"\n")
    counts["changed"] += made.changed
    counts["findings"] += len(made.diagnostics)
    if made.crashed:
        return [str(finding) for finding in made.diagnostics]
    if made.failed:
        counts[f"left alone: {made.diagnostics[0].code}"] += 1
        return []
    if not made.changed:
        return [] if made.data == data else ["its bytes changed, and its text did not"]
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ast.parse(made.data)
    found += _touched_elsewhere(data, made.data, path)
    again = translated_bytes(made.data, path, root, Options(), True)
    if again.data != made.data:
        found.append("a second run changes it")
    return found


def _touched_elsewhere(before: bytes, after: bytes, path: Path) -> list[str]:
    """The first line that is in no function or statement in which something was planned, and that is not in
    the translation, behind the line before it."""
    source = Source.of(before, str(path))
    touched = translate(source, Options()).touched_nodes
    positions = MetadataWrapper(source.module, unsafe_skip_copy=True).resolve(PositionProvider)
    changing = set(_lines(source.module.body, touched, positions))
    remaining_lines = iter(after.splitlines(keepends=True))
    for number, line in enumerate(before.splitlines(keepends=True), 1):
        # Blank lines go with a statement that is taken away.
        if line.strip() and number not in changing and line not in remaining_lines:
            return [f"line {number} is not as it was: {line!r}"]
    return []


def _lines(statements: Sequence[cst.CSTNode], touched: Set[cst.CSTNode], positions: Any) -> Iterator[int]:
    """The lines of what may change: of a class its methods, each by itself."""
    for node in statements:
        if node not in touched:
            continue
        place = positions[node]
        decorators = getattr(node, "decorators", ())
        first = min([place.start.line, *(positions[decorator].start.line for decorator in decorators)])
        last = place.end.line
        if isinstance(node, cst.ClassDef) and isinstance(node.body, cst.IndentedBlock):
            yield from _lines(node.body.body, touched, positions)
            last = positions[node.body.body[0]].start.line - 1
        yield from range(first, last + 1)


def main(folder: str, number: int | None = None) -> None:
    root = Path(os.path.abspath(folder))
    files = sorted(root.rglob("*.py"))
    if number is not None:
        files = files[:: max(1, len(files) // number)]
    sources = [(path, path.read_bytes()) for path in files]
    watch = Watch(str(root))
    counts: Counter[str] = Counter()
    problems: list[str] = []
    begun = time.process_time()
    for path, data in sources:
        problems += [
            f"{path.relative_to(root)}: {problem}" for problem in wrong_with(data, path, root, counts)
        ]
    told = {
        "counts": counts,
        "problems": problems,
        "seen": watch.seen,
        "seconds": time.process_time() - begun,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)
