"""Converts the sources below a folder, and says what is wrong with what came out: a program, run by itself.

    python published_sources.py FOLDER [--number N] [--target tf]

`--number` takes so many of the files, spread over all of them.
Prints one JSON object. The sources must be only read: an audit hook sees if any source is imported or
executed, or anything is written.
"""

from __future__ import annotations

import argparse
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

from np2tf.translator.batch import one_file
from np2tf.translator.batch.batch import Task, with_shared_names
from np2tf.translator.batch.one_file import translate_bytes
from np2tf.translator.pipeline import Result, translate
from np2tf.translator.sources.options import Options
from np2tf.translator.tree.source import Source

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


class Recorder:
    """Translates as the pipeline does, and keeps the last source with its result."""

    last: tuple[Source, Result] | None = None

    def __call__(self, source: Source, options: Options) -> Result:
        result = translate(source, options)
        self.last = source, result
        return result


def wrong_with(
    data: bytes, path: Path, root: Path, options: Options, counts: Counter[str], recorder: Recorder
) -> list[str]:
    """Return the problems of one file's translation."""
    made = translate_bytes(data, path, root, options, True)
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
    assert recorder.last is not None
    found += _touched_elsewhere(data, made.data, *recorder.last)
    again = translate_bytes(made.data, path, root, options, True)
    if again.data != made.data:
        found.append("a second run changes it")
    return found


def _touched_elsewhere(before: bytes, after: bytes, source: Source, result: Result) -> list[str]:
    """The first line that is in no function or statement in which something was planned, and that is not in
    the translation, behind the line before it."""
    positions = MetadataWrapper(source.module, unsafe_skip_copy=True).resolve(PositionProvider)
    changing = set(_lines(source.module.body, result.touched_nodes, positions))
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


def checked(data: bytes, path: Path, root: Path, options: Options, recorder: Recorder) -> dict[str, Any]:
    """Return the counts of one file, its problems, and the seconds that translating it twice takes."""
    counts: Counter[str] = Counter()
    begun = time.process_time()
    problems = wrong_with(data, path, root, options, counts, recorder)
    name = path.relative_to(root)
    return {
        "counts": counts,
        "problems": [f"{name}: {problem}" for problem in problems],
        "seconds": time.process_time() - begun,
    }


def main(folder: str, number: int | None = None, target: str = "np2tf") -> None:
    root = Path(os.path.abspath(folder))
    paths = sorted(path for path in root.rglob("*.py"))
    if number is not None:
        paths = paths[:: max(1, len(paths) // number)]
    options = Options(target=target)
    tasks = with_shared_names([Task(path, root, path.read_bytes(), options) for path in paths])
    recorder = one_file.translate = Recorder()  # type: ignore[assignment]
    watch = Watch(str(root))
    told = [checked(task.data, task.path, root, task.options, recorder) for task in tasks]
    whole = {
        "counts": sum((one["counts"] for one in told), Counter()),
        "problems": [problem for one in told for problem in one["problems"]],
        "seen": watch.seen,
        "seconds": sum(one["seconds"] for one in told),
    }
    print(json.dumps(whole))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--number", type=int)
    parser.add_argument("--target", choices=["np2tf", "tf"], default="np2tf")
    chosen = parser.parse_args()
    main(chosen.folder, chosen.number, chosen.target)
