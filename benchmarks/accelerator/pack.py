"""Packs the cases as programs for XLA, which `run.py` runs where neither TensorFlow nor np2tf is installed.

    python benchmarks/accelerator/pack.py [--out FOLDER] [--device gpu] [--limit SECONDS] [KEY...]

Needs np2tf. For each case (`packed_cases.py`) the folder gets a portable artifact of StableHLO, and a line in
`manifest.jsonl`: the inputs' shapes and dtypes, a digest of NumPy's inputs and results, and the tolerance, or
the reason why there is no program. A case that is in the manifest already is left alone, so that packing can
be interrupted. The work is done in another process, which is ended and started again behind a case that takes
too long.
"""

from __future__ import annotations

import gzip
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np
from packed_cases import Case, arrays_of, digest, every_case, run_whole

HERE = Path(__file__).resolve().parent
#: The limit of the folder's size in bytes, and of a single program's: its constants should be inputs.
MOST, MOST_OF_ONE = 20_000_000, 4_000_000
TOLERANCE = {"float64": 1e-6, "float32": 2e-3}


def program_text(case: Case, args: tuple[Any, ...], written: tuple[int, ...]) -> str:
    """Return the source of the case's module with a function `whole` of the arrays alone.

    It returns what the function returns, and the arguments that the function writes to.
    """
    names = [f"argument_{k}" for k in range(len(args))]
    arrays = [name for name, arg in zip(names, args, strict=True) if isinstance(arg, np.ndarray)]
    words = [
        name if isinstance(arg, np.ndarray) else repr(arg) for name, arg in zip(names, args, strict=True)
    ]
    results = "".join(f"{names[k]}, " for k in written)
    return (
        f"{case.source.read_text()}\n\ndef whole({', '.join(arrays)}):\n"
        f"    result = {case.function}({', '.join(words)})\n    return result, ({results})\n"
    )


def pack(case: Case, folder: Path, device: str) -> dict[str, Any]:
    """Write the case's program, and return its entry of the manifest."""
    import np2tf

    args = case.arguments()
    small = Case(case.name, "SMALL", case.dtype)
    result, written = run_whole(getattr(small.module(), case.function), small.arguments())
    arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
    with tempfile.TemporaryDirectory() as where:
        source = Path(where) / f"{case.source.stem}.py"
        source.write_text(program_text(case, args, written))
        begun = perf_counter()
        module = np2tf.import_module(case.source.stem, source)
        program = np2tf.stablehlo(module.whole, arrays, device=device)
        artifact = program.artifact()
    if program.arrays:
        raise ValueError(f"it reads {len(program.arrays)} large arrays by name")
    packed = gzip.compress(artifact, mtime=0)
    if len(packed) > MOST_OF_ONE:
        raise ValueError(f"its constants take {len(packed)} bytes, compressed")
    (folder / f"{case.key}.mlirbc.gz").write_bytes(packed)
    return {
        "inputs": [[list(array.shape), str(array.dtype)] for array in arrays],
        "input_digests": [digest(array) for array in arrays],
        "outputs": [[spec.shape.as_list(), spec.dtype.name] for spec in program.results],
        "results": results_of(case, args),
        "written": sum(len(arrays_of(own)) for own in result[1]),
        "has_check": program.has_check,
        "tolerance": TOLERANCE[case.dtype],
        "tracing": perf_counter() - begun,
        "bytes": len(packed),
    }


def results_of(case: Case, args: tuple[Any, ...]) -> list[dict[str, Any]] | None:
    """Return digests of NumPy's results; None if that takes long, so that the machine with the accelerator
    computes them.
    """
    if case.size == "LARGE":
        return None
    result, _ = run_whole(getattr(case.module(), case.function), args)
    return [digest(array) for array in arrays_of(result)]


def work(folder: Path, device: str, keys: list[str]) -> None:
    """Pack cases in this process, and print a line for each."""
    for key in keys:
        print(json.dumps({"key": key}), flush=True)
        try:
            found = pack(Case(*key.split("-")), folder, device)
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}
        print(json.dumps({"key": key, "device": device, **found}), flush=True)


def lines_of(process: subprocess.Popen[str], limit: float) -> Iterator[str]:
    """Yield a process's lines; end it if one takes longer than the limit."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in process.stdout or ():
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    try:
        while (line := lines.get(timeout=limit)) is not None:
            yield line
    except queue.Empty:
        pass
    finally:
        process.kill()
        process.wait()


@click.command()
@click.argument("keys", nargs=-1)
@click.option("--out", "folder", type=click.Path(path_type=Path), default=HERE / "packed", show_default=True)
@click.option("--device", default="gpu", show_default=True)
@click.option("--limit", default=90.0, show_default=True, help="Seconds that a case may take.")
@click.option("--worker", is_flag=True, hidden=True)
def main(keys: tuple[str, ...], folder: Path, device: str, limit: float, worker: bool) -> None:
    """Pack the cases KEY, such as lu-SIZE-float64 (all of them by default)."""
    if worker:
        work(folder, device, list(keys))
        return
    folder.mkdir(parents=True, exist_ok=True)
    manifest = folder / "manifest.jsonl"
    known = manifest.read_text().splitlines() if manifest.exists() else []
    done = {json.loads(line)["key"] for line in known}
    total = sum(path.stat().st_size for path in folder.iterdir())
    rest = [key for key in keys or [case.key for case in every_case()] if key not in done]
    while rest and total < MOST:
        command = [sys.executable, "-W", "ignore", str(HERE / "pack.py"), "--worker", "--out", str(folder)]
        process = subprocess.Popen(
            [*command, "--device", device, *rest],
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        begun: str | None = None
        for line in lines_of(process, limit):
            told = json.loads(line)
            begun = told["key"] if len(told) == 1 else None
            if begun is None:
                total += _note(manifest, told)
                rest.remove(told["key"])
            if total > MOST:
                break
        else:
            if rest:
                missing = begun or rest[0]
                _note(manifest, {"key": missing, "error": f"ended, or took more than {limit:g} s"})
                rest.remove(missing)
    click.echo(f"{folder}: {total} bytes{f', {len(rest)} cases left out' if rest else ''}")


def _note(manifest: Path, told: dict[str, Any]) -> int:
    """Write a line to the manifest, and return how many bytes the case takes."""
    line = json.dumps(told)
    with manifest.open("a") as file:
        file.write(f"{line}\n")
    click.echo(f"{told['key']}: {told.get('error') or format(told['tracing'], '.1f')}", err=True)
    return len(line) + told.get("bytes", 0)


if __name__ == "__main__":
    main()
