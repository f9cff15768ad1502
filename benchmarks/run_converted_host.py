"""Times files converted by `np2tf convert` beside their sources on the host, with NP2TF_JIT=off.

    python benchmarks/run_converted_host.py                        # kernels, programs and scripts
    python benchmarks/run_converted_host.py --only nbody,lu        # those whose names contain one of these
    python benchmarks/run_converted_host.py --kinds kernels        # the kernels of benchmarks/kernels only
    python benchmarks/run_converted_host.py --write-docs           # the table into docs/convert.md

The source and the converted file run in a process each. A kernel is called in turn in both processes, again
and again, and the fastest call of each counts, so that other work on the machine slows both of them down or
none. A program runs in a new process each time, in turn, after the imports of NumPy and of np2tf, which are
not counted; what the program prints must be equal. The exit status is 1 if an output differs.

The C library gives freed memory back where it happens to lie at the end of the heap, which makes the same
kernel up to twice as slow after the import of any module. Here it keeps that memory (`MALLOC_TOP_PAD_`); at
other times np2tf sees to that in a converted file (`np2tf.config.freed_memory`), and not in its source.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {
    "kernels": ROOT / "benchmarks" / "kernels",
    "programs": ROOT / "fixtures" / "programs",
    "scripts": ROOT / "benchmarks" / "scripts",
}
DOCUMENT = ROOT / "docs" / "convert.md"
BEGIN, END = (
    "<!-- begin: written by benchmarks/run_converted_host.py -->",
    "<!-- end of run_converted_host.py -->",
)
HEAD = ("kind", "name", "source s", "converted s", "converted/source", "equal")
#: The share of its source's time that a converted file may take.
GOAL = 1.1
#: The ways in which a file runs, in the order of the columns.
WAYS = ("source", "converted")
#: How many seconds of calls are compared at least, and a short kernel's calls in one timing together.
_COMPARED, _TIMED = 3.0, 2e-3


@dataclass
class Result:
    """The fastest times of a kernel or program.

    Attributes:
        outputs: what the two ways gave, as text.
    """

    kind: str
    name: str
    seconds: dict[str, float] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """Return the converted file's time divided by the source's."""
        return self.seconds["converted"] / self.seconds["source"]

    @property
    def is_equal(self) -> bool:
        """Return whether both ways gave the same."""
        return self.outputs["source"] == self.outputs["converted"]

    def add(self, way: str, told: dict[str, Any]) -> None:
        """Add the time and the output of one run."""
        self.seconds[way] = min(told["seconds"], self.seconds.get(way, told["seconds"]))
        self.outputs[way] = told["output"]

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the row of the table."""
        times = (f"{self.seconds[way]:.4g}" for way in WAYS)
        return self.kind, self.name, *times, f"{self.ratio:.2f}", "yes" if self.is_equal else "NO"


# -- in the measured process ---------------------------------------------------------------------------------


def imports(way: str) -> None:
    """Import what the file imports, which is not counted."""
    import numpy as np

    np.zeros(1)
    if way == "converted":
        import np2tf
        from np2tf import tnp

        np2tf.jit(lambda x: tnp.sum(x))(np.zeros(1))


def serve_kernel(way: str, path: Path) -> None:
    """Time calls of a kernel, one for each line of the standard input."""
    import copy

    imports(way)
    space = runpy.run_path(str(path))
    arguments_path = FOLDERS["kernels"] / "arguments" / path.name
    maker = runpy.run_path(str(arguments_path if arguments_path.exists() else FOLDERS["kernels"] / path.name))
    arguments = maker["initialise"](maker["SIZE"])
    calls = 1
    for line in sys.stdin:
        calls = int(line) or calls
        copies = [copy.deepcopy(arguments) for _ in range(calls)]
        start = time.perf_counter()
        for own in copies:
            result = space["kernel"](*own)
        seconds = (time.perf_counter() - start) / calls
        print(json.dumps({"seconds": seconds, "output": described((result, copies[-1]))}), flush=True)


def described(value: Any) -> str:
    """Return a text that is equal for equal results."""
    import hashlib
    import pickle

    return hashlib.sha256(pickle.dumps(plain(value))).hexdigest()


def plain(value: Any) -> Any:
    """Return a result as values whose pickles are equal if they are."""
    import numpy as np

    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return (value.dtype.str, value.shape, value.tobytes())
    return repr(value)


def run_program(way: str, path: Path) -> None:
    """Run a program once, and print its time and output."""
    imports(way)
    sys.argv = [str(path)]
    sys.path.insert(0, str(path.parent))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        start = time.perf_counter()
        runpy.run_path(str(path), run_name="__main__")
        seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "output": printed.getvalue()}))


# -- the processes -------------------------------------------------------------------------------------------


def start(task: str, way: str, path: Path) -> subprocess.Popen[str]:
    """Start the process that measures a file in one way."""
    compiled = Path(tempfile.gettempdir()) / "np2tf-compiled"
    variables = {"PYTHONPATH": str(ROOT), "NP2TF_JIT": "off", "MALLOC_TOP_PAD_": str(2**27)}
    variables["OPENBLAS_NUM_THREADS"] = "1"  # threads that wait for one another make other work decide
    variables |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(compiled)}
    return subprocess.Popen(
        [sys.executable, __file__, "--task", task, "--way", way, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=path.parent,
        env={**os.environ, **variables},
        text=True,
    )


def measured_kernel(name: str, paths: dict[str, Path], seconds: float, rounds: int) -> Result:
    """Call a kernel in turn in two processes."""
    result = Result("kernels", name)
    processes = {way: start("kernel", way, path) for way, path in paths.items()}

    def call(way: str, calls: int) -> dict[str, Any]:
        process = processes[way]
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{calls}\n")
        process.stdin.flush()
        told: dict[str, Any] = json.loads(process.stdout.readline())
        return told

    try:
        once = [call(way, 1)["seconds"] for way in WAYS for _ in range(2)]
        calls = max(1, min(1000, int(_TIMED / max(min(once), 1e-7))))
        begun, done = time.perf_counter(), 0
        while done < rounds or time.perf_counter() - begun < seconds:
            for way in WAYS if done % 2 else reversed(WAYS):
                result.add(way, call(way, calls))
            done += 1
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
    return result


def measured_program(kind: str, name: str, paths: dict[str, Path], rounds: int) -> Result:
    """Run a program in turn in new processes; one that takes more than ten seconds, once in each way."""
    result = Result(kind, name)
    for done in range(rounds):
        for way in WAYS:
            told, _ = start("program", way, paths[way]).communicate()
            result.add(way, json.loads(told.splitlines()[-1]))
        if min(result.seconds.values()) > 10 and done == 0 and result.ratio < GOAL:
            break
    return result


def converted(folder: Path, into: Path) -> None:
    """Convert a folder as a user does; `PYTHONPATH` makes np2tf this checkout's."""
    np2tf = str(Path(sys.executable).with_name("np2tf"))
    command = [sys.executable, np2tf, "convert", "-q", "--copy-other", "--out", str(into), "."]
    subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)


def results_of(kinds: list[str], only: str, seconds: float, rounds: int) -> Iterator[Result]:
    """Yield the result of each kernel and program."""
    parts = [part.strip() for part in only.split(",") if part.strip()]
    with tempfile.TemporaryDirectory(prefix="np2tf-converted-") as name:
        for kind in kinds:
            folder, into = FOLDERS[kind], Path(name) / kind
            converted(folder, into)
            for path in sorted([*folder.glob("*.py"), *folder.glob("*/main.py")]):
                title = path.parent.name if path.name == "main.py" else path.stem
                if parts and not any(part in title for part in parts):
                    continue
                paths = {"source": path, "converted": into / path.relative_to(folder)}
                if kind == "kernels":
                    yield measured_kernel(title, paths, seconds, rounds)
                else:
                    yield measured_program(kind, title, paths, rounds)


# -- what is shown -------------------------------------------------------------------------------------------


def closing_lines(results: list[Result]) -> list[str]:
    """Return the means and the extremes, in words."""
    lines = []
    for kind in dict.fromkeys(one.kind for one in results):
        ratios = [one.ratio for one in results if one.kind == kind]
        late = sorted(
            (one for one in results if one.kind == kind and one.ratio > GOAL), key=lambda one: -one.ratio
        )
        above = ", ".join(f"{one.name} {one.ratio:.2f}" for one in late) or "none"
        mean = statistics.geometric_mean(ratios)
        lines.append(f"{kind} ({len(ratios)}): geometric mean {mean:.2f}, above {GOAL}: {above}")
    return lines


def markdown(results: list[Result]) -> str:
    """Return the ratios and the closing lines for the docs; an output that differs is in bold."""
    parts = []
    for kind, line in zip(dict.fromkeys(one.kind for one in results), closing_lines(results), strict=True):
        ratios = (f"{one.name}&nbsp;{one.ratio:.2f}" for one in results if one.kind == kind)
        different = [f"**{one.name} differs**" for one in results if one.kind == kind and not one.is_equal]
        parts += [f"**{line[0].upper()}{line[1:]}.**", "", ", ".join([*different, *ratios]) + "."]
    return "\n\n".join(part for part in parts if part)


def write_document(results: list[Result]) -> None:
    """Replace the table in the docs."""
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    text = f"{before}{BEGIN}\n\n{markdown(results)}\n\n{END}{rest.partition(END)[2]}"
    DOCUMENT.write_text(text, encoding="utf-8")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--only", default="", metavar="NAMES", help="Only those with one of these in their names.")
@click.option("--kinds", default=",".join(FOLDERS), show_default=True, help="Which folders.")
@click.option("--seconds", default=_COMPARED, show_default=True, help="The least seconds for a kernel.")
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True, help="The least runs.")
@click.option("--write-docs", is_flag=True, help="Write the table into docs/convert.md.")
@click.option("--task", type=click.Choice(["kernel", "program"]), hidden=True)
@click.option("--way", type=click.Choice(WAYS), hidden=True)
@click.argument("path", required=False, type=click.Path(path_type=Path))
def main(
    only: str,
    kinds: str,
    seconds: float,
    rounds: int,
    write_docs: bool,
    task: str | None,
    way: str,
    path: Path,
) -> None:
    """Time converted files beside their sources on the host."""
    if task is not None:
        (serve_kernel if task == "kernel" else run_program)(way, path.resolve())
        return
    console = Console(width=None if sys.stdout.isatty() else 110)
    results = []
    for one in results_of([kind.strip() for kind in kinds.split(",")], only, seconds, rounds):
        results.append(one)
        style = "bold red" if not one.is_equal else "yellow" if one.ratio > GOAL else None
        console.print("  ".join(one.cells()), style=style, highlight=False)
    for line in closing_lines(results):
        console.print(line, highlight=False)
    if write_docs:
        write_document(results)
    if not all(one.is_equal for one in results):
        sys.exit(1)


if __name__ == "__main__":
    main()
