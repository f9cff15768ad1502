"""Runs the packed programs on an accelerator through JAX's runtime, and compares. Needs jax and numpy alone.

    python benchmarks/accelerator/run.py --out RESULTS [--packed FOLDER] [--seconds 330] [KEY...]

Made for a few minutes on a machine that is then gone. First all programs are compiled by several threads into
JAX's cache on disk. Then a process runs them one after another; it is ended, and started again behind the
program, if one takes too long. Every figure is in `results.jsonl` the moment it is there, and a second call
goes on where the first has ended. `results.json` and `table.md` are written last, and now and then before.

The systems: "np2tf" is the packed program behind `jax.jit`, so that a call costs what JAX's own calls cost;
"hand" is `jax_by_hand.py`; "jax" is `jax.jit` of the kernel's source with `jax.numpy`; "cupy" is the source
with `cupy`; "numpy" is the source as it is, on the machine's processor, in a process beside the others.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import json
import os
import queue
import signal
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import numpy as np
from launches import launches
from packed_cases import FIRST, Case, digest, distance, every_case
from report import tables

HERE = Path(__file__).resolve().parent
SYSTEMS = ("np2tf", "hand", "jax", "cupy", "numpy")
#: Systems whose programs are compiled ahead.
COMPILED = ("np2tf", "hand", "jax")
#: Seconds that tracing a function may take: `jax.jit` of a source unrolls its loops.
TRACING = 20

Job = tuple[str, str]  # the case's key, and the system


class Pack:
    """The folder that `pack.py` has written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.entries: dict[str, dict[str, Any]] = {}
        for line in (folder / "manifest.jsonl").read_text().splitlines():
            entry = json.loads(line)
            self.entries[entry["key"]] = entry

    def packed(self) -> list[str]:
        """The cases that have programs, the most telling first."""
        order = {case.key: k for k, case in enumerate(every_case())}
        good = [key for key, entry in self.entries.items() if "error" not in entry]
        return sorted(good, key=lambda key: order.get(key, len(order)))

    def program(self, key: str) -> Callable[..., Any]:
        """Return the packed program as a function that JAX traces.

        An export of another function of the same inputs and results takes the packed program in, so that the
        other fields are those of the installed JAX.
        """
        import jax
        import jax.export

        entry = self.entries[key]

        def stand_in(*arrays: Any) -> Any:
            return tuple(jax.numpy.zeros(shape, dtype) for shape, dtype in entry["outputs"])

        exported = jax.export.export(jax.jit(stand_in, keep_unused=True))(*abstract(entry))
        artifact = gzip.decompress((self.folder / f"{key}.mlirbc.gz").read_bytes())
        return dataclasses.replace(exported, mlir_module_serialized=artifact).call


def abstract(entry: dict[str, Any]) -> list[Any]:
    """Return the kinds of the inputs."""
    import jax

    return [jax.ShapeDtypeStruct(shape, np.dtype(dtype)) for shape, dtype in entry["inputs"]]


def prepare(folder: Path) -> Any:
    """Import JAX with 64 bits and the cache on disk."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax.config.update("jax_default_matmul_precision", "highest")
    jax.devices()
    return jax


def function_of(pack: Pack, job: Job) -> Callable[..., Any]:
    """Return a system's function of the case's arrays. For the systems of JAX it is not yet compiled.

    Raises:
        LookupError: if the system has none.
    """
    key, system = job
    case = Case(*key.split("-"))
    if system == "np2tf":
        return pack.program(key)
    if system == "hand":
        import jax_by_hand

        written = jax_by_hand.BY_HAND.get(case.name)
        if written is None:
            raise LookupError("nobody has written it")
        return _with_numbers(case, written)
    module = case.module()
    if system == "jax":
        import jax

        module.np = jax.numpy
    elif system == "cupy":
        import cupy

        module.np = cupy
    return _with_numbers(case, getattr(module, case.function))


def _with_numbers(case: Case, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the arrays among a case's arguments; Python's numbers are part of it."""
    args = [None if isinstance(arg, np.ndarray) else arg for arg in _arguments(case)]

    def call(*arrays: Any) -> Any:
        own = iter(arrays)
        return function(*(next(own) if arg is None else arg for arg in args))

    return call


#: The last case with its arguments, and the last case whose inputs have been compared with the packed ones.
_last: list[Any] = [None, ()]
_checked = [""]


def _arguments(case: Case) -> tuple[Any, ...]:
    """Return the case's arguments; the last case's are kept."""
    if _last[0] != case:
        _last[:] = [case, case.arguments()]
    return tuple(_last[1])


# -- the processes


def compile_all(pack: Pack, jobs: list[Job], cache: Path, threads: int) -> None:
    """Compile programs into the cache, and print a line for each. One thread traces, the others compile."""
    jax = prepare(cache)
    signal.signal(signal.SIGALRM, _too_long)

    def finish(job: Job, lowered: Any) -> None:
        begun = perf_counter()
        try:
            compiled = lowered.compile()
            say({"job": job, "compiled": perf_counter() - begun, **launches(compiled.as_text())})
        except Exception as error:
            say({"job": job, "error": said(error)})

    with ThreadPoolExecutor(threads) as pool:
        for job in jobs:
            signal.alarm(TRACING)
            try:
                lowered = jax.jit(function_of(pack, job)).lower(*abstract(pack.entries[job[0]]))
            except LookupError as error:
                say({"job": job, "absent": said(error)})
            except Exception as error:
                say({"job": job, "error": said(error)})
            else:
                pool.submit(finish, job, lowered)
            finally:
                signal.alarm(0)


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"tracing took more than {TRACING} s")


def run_all(pack: Pack, jobs: list[Job], cache: Path, seconds: float) -> None:
    """Run and time jobs one after another, and print a line before and behind each."""
    jax = prepare(cache) if any(system in COMPILED for _, system in jobs) else None
    for job in jobs:
        say({"begin": job})
        try:
            say({"job": job, **run_one(pack, job, jax, seconds)})
        except LookupError as error:
            say({"job": job, "absent": said(error)})
        except Exception as error:
            say({"job": job, "error": said(error)})


def run_one(pack: Pack, job: Job, jax: Any, seconds: float) -> dict[str, Any]:
    """Return the figures of a job.

    "warm" is the median of calls on inputs that are on the device, "copies" that of calls that copy NumPy's
    arrays there and the results back.
    """
    key, system = job
    entry = pack.entries[key]
    arrays = [arg for arg in _arguments(Case(*key.split("-"))) if isinstance(arg, np.ndarray)]
    if _checked[0] != key:
        for array, wanted in zip(arrays, entry["input_digests"], strict=True):
            if not distance(digest(array), wanted) < 1e-6:
                raise ValueError("NumPy's streams give other inputs here")
        _checked[0] = key
    call, to_device, to_host = surroundings(jax, system, function_of(pack, job))
    found: dict[str, Any] = {}
    there = [to_device(array) for array in arrays]
    begun = perf_counter()
    result = call(*there)
    found["first"] = perf_counter() - begun
    results = [to_host(array) for array in leaves(result)]
    if system == "np2tf" and entry["has_check"] and bool(results.pop()):
        raise ValueError("the program says that NumPy would raise an error")
    found["digests"] = [digest(array) for array in results]
    fresh = system in ("cupy", "numpy")  # these write to their arguments
    if system == "numpy" and found["first"] > 2 * seconds:
        return found | {"warm": found["first"], "best": found["first"], "calls": 1}
    found["warm"], found["best"], found["calls"] = timed(
        call, lambda: there, to_device if fresh else None, seconds
    )
    if system != "numpy":

        def with_copies(*arrays: np.ndarray) -> None:
            for array in leaves(call(*map(to_device, arrays))):
                to_host(array)

        found["copies"], _, _ = timed(with_copies, lambda: arrays, np.copy if fresh else None, seconds / 2)
    return found


def surroundings(
    jax: Any, system: str, function: Callable[..., Any]
) -> tuple[Callable[..., Any], Callable[[Any], Any], Callable[[Any], Any]]:
    """Return the call that ends when its work is done, and functions that copy to the device and back."""
    if system == "numpy":
        return function, np.copy, np.asarray
    if system == "cupy":
        import cupy

        def run(*arrays: Any) -> Any:
            result = function(*arrays)
            cupy.cuda.get_current_stream().synchronize()
            return result

        return run, cupy.array, lambda array: cupy.asnumpy(array)
    jitted = jax.jit(function)
    return lambda *arrays: jax.block_until_ready(jitted(*arrays)), jax.device_put, np.asarray


def leaves(value: Any) -> list[Any]:
    """Return the arrays and numbers in a result, where they are."""
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return [] if value is None else [value]


def judged(own: dict[str, Any], entry: dict[str, Any], numpys: dict[str, Any], system: str) -> dict[str, Any]:
    """Return how far a system's results are from NumPy's, and whether that is near enough; nothing if NumPy
    has no results.

    Args:
        own: the figures of the system, with digests of its results.
        entry: the case in the manifest; it has the digests of NumPy's results, unless computing them takes
            long.
        numpys: the figures of NumPy on this machine.
        system: the system. Only np2tf's program also returns the arguments that the function writes to.
    """
    results, wanted = own.get("digests"), entry["results"] or numpys.get("digests")
    if results is None or wanted is None:
        return {}
    if entry["results"]:
        wanted = wanted[: len(wanted) - entry["written"]]
    ours = results[: len(results) - entry["written"]] if system == "np2tf" else results
    if system == "hand":
        wanted = wanted[: max(len(ours), 1)]  # a person leaves out what is of no interest
    if len(ours) != len(wanted):
        return {"right": False, "distance": None}
    far = max(map(distance, ours, wanted), default=0.0)
    return {"right": far <= entry["tolerance"], "distance": far if np.isfinite(far) else None}


def timed(
    call: Callable[..., Any], inputs: Callable[[], Any], fresh: Callable[[Any], Any] | None, seconds: float
) -> tuple[float, float, int]:
    """Return the median and the best time of calls during so many seconds, at least three, and their number.

    Args:
        call: the function to time.
        inputs: returns its arguments.
        fresh: copies an argument before each call, which is not timed; None if the function writes to none.
        seconds: how long.
    """
    times: list[float] = []
    end = perf_counter() + seconds
    while len(times) < 3 or (perf_counter() < end and len(times) < 1000):
        args = [fresh(array) for array in inputs()] if fresh else inputs()
        begun = perf_counter()
        call(*args)
        times.append(perf_counter() - begun)
        if sum(times) > 5 * seconds:
            break
    return statistics.median(times), min(times), len(times)


def say(told: dict[str, Any]) -> None:
    """Print a line for the process that watches."""
    with _saying:
        print(json.dumps(told), flush=True)


_saying = threading.Lock()


def said(error: Exception) -> str:
    """Return an error as one short line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


# -- the watch


class Results:
    """The figures of all jobs, on disk at once."""

    def __init__(self, folder: Path, pack: Pack) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.pack = folder, pack
        self.compiled: dict[Job, dict[str, Any]] = {}
        self.found: dict[Job, dict[str, Any]] = {}
        self.machine: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._file = folder / "results.jsonl"
        for line in self._file.read_text().splitlines() if self._file.exists() else ():
            self._take(json.loads(line))

    def note(self, told: dict[str, Any]) -> None:
        """Keep a line, on disk too."""
        with self._lock:
            self._take(told)
            with self._file.open("a") as file:
                file.write(json.dumps(told) + "\n")

    def _take(self, told: dict[str, Any]) -> None:
        if "machine" in told:
            self.machine = told["machine"]
            return
        job: Job = tuple(told["job"])
        into = self.compiled if told.get("stage") == "compile" else self.found
        into[job] = {key: value for key, value in told.items() if key not in ("job", "stage")}

    def _row(self, key: str, system: str) -> dict[str, Any]:
        """Return the figures of a job, with the judgement of its results in the place of their digests."""
        own = {**self.compiled.get((key, system), {}), **self.found.get((key, system), {})}
        right = judged(own, self.pack.entries[key], self.found.get((key, "numpy"), {}), system)
        return {name: value for name, value in own.items() if name != "digests"} | right

    def write(self) -> None:
        """Write the JSON file and the table."""
        with self._lock:
            rows = {
                key: {
                    system: self._row(key, system)
                    for system in SYSTEMS
                    if (key, system) in self.found or (key, system) in self.compiled
                }
                for key in self.pack.packed()
            }
        left_out = {key: one["error"] for key, one in self.pack.entries.items() if "error" in one}
        whole = {"machine": self.machine, "cases": rows, "left out": left_out}
        (self.folder / "results.json").write_text(json.dumps(whole, indent=1))
        (self.folder / "table.md").write_text(tables(self.machine, rows) + "\n")


def start(stage: str, args: argparse.Namespace, jobs: list[Job]) -> subprocess.Popen[str]:
    """Start a process for a stage; it reads its jobs from its input."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        str(HERE / "run.py"),
        "--stage",
        stage,
        "--packed",
        str(args.packed),
    ]
    command += ["--cache", str(args.cache), "--threads", str(args.threads), "--repeat", str(args.repeat)]
    environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_CPP_MIN_LOG_LEVEL": "3"}
    if stage == "numpy":
        environment["JAX_PLATFORMS"] = "cpu"
    with (args.out / f"{stage}.log").open("a") as log:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
    assert process.stdin is not None
    process.stdin.write(json.dumps(jobs))
    process.stdin.close()
    return process


def lines_of(process: subprocess.Popen[str], wait: Callable[[], float]) -> Iterator[dict[str, Any]]:
    """Yield what a process says; end it if it is silent for longer than `wait()` seconds."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in process.stdout or ():
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    try:
        while (line := lines.get(timeout=max(wait(), 0.01))) is not None:
            if line.startswith("{"):
                yield json.loads(line)
    except queue.Empty:
        pass
    finally:
        process.kill()
        process.wait()


def compile_stage(args: argparse.Namespace, results: Results, jobs: list[Job], end: float) -> None:
    """Compile each system's programs in a process of its own, until it is time to run."""

    def watch(part: list[Job]) -> None:
        for told in lines_of(start("compile", args, part), lambda: end - monotonic()):
            results.note({"stage": "compile", **told})

    parts = [[job for job in jobs if job[1] == system] for system in COMPILED]
    threads = [threading.Thread(target=watch, args=(part,)) for part in parts if part]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run_stage(args: argparse.Namespace, results: Results, stage: str, jobs: list[Job], end: float) -> None:
    """Run jobs until the end; behind a job that takes too long, go on in a new process."""
    rest = list(jobs)
    while rest and monotonic() < end:
        begun: list[Any] = [None, monotonic() + args.starting]

        def wait(begun: list[Any] = begun) -> float:
            return min(begun[1], end) - monotonic()

        for told in lines_of(start(stage, args, rest), wait):
            if "begin" in told:
                begun[:] = [tuple(told["begin"]), monotonic() + args.limit]
                continue
            job = tuple(told["job"])
            results.note(told)
            results.write()
            rest.remove(job)
            begun[:] = [None, monotonic() + args.limit]
        if rest and monotonic() < end:
            late = begun[0] or rest[0]
            results.note({"job": late, "error": f"ended, or took more than {args.limit:g} s"})
            rest.remove(late)


def in_order(keys: Iterable[str], systems: list[str]) -> list[Job]:
    """Return the jobs of the accelerator, the most telling first."""

    def rank(job: Job) -> int:
        case, system = Case(*job[0].split("-")), job[1]
        telling, others = case.name in FIRST and case.size == "LARGE", system in ("jax", "cupy")
        if case.dtype != "float64":
            return 6 if others else 4 if telling else 5
        if telling:
            return 2 if others else 0
        return 1 if system == "np2tf" and case.size == "SIZE" else 3 if not others else 5

    return sorted(((key, system) for key in keys for system in systems), key=rank)


def describe() -> dict[str, Any]:
    """Return what machine this is, in another process, which has the device only for a moment."""
    text = (
        "import jax, json, os, numpy; d = jax.devices()[0]; "
        "print(json.dumps({'device': d.device_kind, 'platform': d.platform, 'jax': jax.__version__, "
        "'numpy': numpy.__version__, 'cores': os.cpu_count()}))"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"JAX does not start: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("keys", nargs="*", help="cases, such as lu-SIZE-float64; all of them by default")
    parser.add_argument("--packed", type=Path, default=HERE / "packed", help="pack.py's folder")
    parser.add_argument("--out", type=Path, default=Path("accelerator-results"), help="the results' folder")
    parser.add_argument("--cache", type=Path, help="JAX's cache; by default in the results' folder")
    parser.add_argument("--seconds", type=float, default=330.0, help="how long all may take")
    parser.add_argument("--compiling", type=float, default=0.4, help="the part of it that is for compiling")
    parser.add_argument("--threads", type=int, default=max((os.cpu_count() or 2) - 2, 2))
    parser.add_argument("--limit", type=float, default=20.0, help="seconds that a job may take")
    parser.add_argument(
        "--starting", type=float, default=60.0, help="seconds that a process may take to start"
    )
    parser.add_argument("--repeat", type=float, default=0.2, help="seconds of warm calls")
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--stage", choices=("compile", "run", "numpy"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.cache = args.cache or args.out / "cache"
    return args


def main() -> None:
    args = parsed()
    pack = Pack(args.packed)
    if args.stage:
        jobs = [(key, system) for key, system in json.load(sys.stdin)]
        if args.stage == "compile":
            compile_all(pack, jobs, args.cache, args.threads)
        else:
            run_all(pack, jobs, args.cache, args.repeat)
        sys.stdout.flush()
        os._exit(0)
    end = monotonic() + args.seconds
    results = Results(args.out, pack)
    results.note({"machine": describe()})
    keys = [key for key in pack.packed() if not args.keys or key in args.keys]
    systems = args.systems.split(",")
    jobs = [job for job in in_order(keys, systems) if job not in results.found and job[1] != "numpy"]
    until = monotonic() + args.compiling * (end - monotonic())
    compile_stage(
        args, results, [job for job in jobs if job[1] in COMPILED and job not in results.compiled], until
    )
    results.write()
    for job in jobs:
        if {"error", "absent"} & results.compiled.get(job, {}).keys():
            results.found[job] = results.compiled[job]
    ready = [job for job in jobs if job not in results.found]
    # What is not compiled would hold up what is.
    ready.sort(key=lambda job: job[1] in COMPILED and job not in results.compiled)
    plain = [(key, "numpy") for key in keys if "numpy" in systems and (key, "numpy") not in results.found]
    threads = [
        threading.Thread(target=run_stage, args=(args, results, stage, part, end))
        for stage, part in (("run", ready), ("numpy", plain))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.write()
    print((args.out / "table.md").read_text())


if __name__ == "__main__":
    main()
