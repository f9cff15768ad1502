"""A program that runs for a given time: `np2tf run tools/soak_program/main.py SECONDS CURVE [near]`.

Every round is run twice, by the functions of `parts`, which np2tf translates, and by the same text as it is,
and both must agree. The file CURVE gets a line every few seconds: the seconds since the beginning, the number
of rounds, the resident memory in kB, the milliseconds of a round, and how long np2tf's own lists and tables
are. With `near`, np2tf's counters start near the limits that they could have.
"""

import gc
import os
import pathlib
import sys
import time

import numpy as np
import parts

PERIOD = float(os.environ.get("SOAK_PERIOD", "2"))


def plain_parts():
    path = pathlib.Path(parts.__file__)
    names = {"__name__": "plain_parts"}
    exec(compile(path.read_text(), "<plain parts>", "exec"), names)
    return names["round_of"]


def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def start_near_limits():
    """Let counters of np2tf begin where powers of two and four, and integers of C, would overflow."""
    if "np2tf" not in sys.modules:
        return
    from np2tf.counts import counts
    from np2tf.runtime.compilation import budget, compiling, specializations
    from np2tf.runtime.environment.clock import clock
    from np2tf.runtime.host import host_function

    def from_then_on(kind, **values):
        initialise = kind.__init__

        def begin(self, *args, **kwargs):
            initialise(self, *args, **kwargs)
            vars(self).update(values)

        kind.__init__ = begin

    near = 2**63 - 100
    from_then_on(specializations.SpecializationCache, reviews=1020, calls=near)
    from_then_on(compiling.Compiler, _in_a_row=1040)
    from_then_on(budget.Budget, _in_vain=0)
    from_then_on(host_function.HostFunction, timed_calls=0)
    for name in ("host", "host_calls", "compiled", "graph", "traces"):
        setattr(counts, name, near)
    clock.host_seconds, clock.compile_seconds = 1e9, 1e9


def sizes():
    """Return the lengths of np2tf's lists and tables, and the number of its objects of some kinds."""
    from np2tf import faults
    from np2tf.counts import counts
    from np2tf.runtime.decisions.decisions import decisions

    kinds = {
        "JittedFunction": 0,
        "SpecializationCache": 0,
        "ConcreteFunction": 0,
        "FuncGraph": 0,
        "Dependencies": 0,
    }
    for value in gc.get_objects():
        name = type(value).__name__
        if name in kinds:
            kinds[name] += 1
    lengths = {
        "fallbacks": len(counts.fallbacks),
        "outcomes": len(decisions._outcomes),
        "faults": len(faults._reported),
    }
    return {**lengths, **kinds}


def equal(a, b):
    if not isinstance(a, np.ndarray):
        return type(a) is type(b) and (a == b or abs(a - b) <= 1e-9 * abs(b))
    return a.dtype == b.dtype and a.shape == b.shape and np.allclose(a, b, 1e-9, 1e-12, equal_nan=True)


def main(seconds, curve, near):
    if near:
        start_near_limits()
    plain = plain_parts()
    begin = last = time.perf_counter()
    rounds, spent, done = 0, 0.0, 0
    with open(curve, "w") as file:
        file.write("seconds,rounds,kilobytes,milliseconds,sizes\n")
        while last - begin < seconds:
            start = time.perf_counter()
            results = parts.round_of(rounds)
            spent += time.perf_counter() - start
            expected = plain(rounds)
            for place, (a, b) in enumerate(zip(results, expected, strict=True)):
                if not equal(a, b):
                    raise SystemExit(f"round {rounds}, result {place}: {a!r} is not {b!r}")
            rounds += 1
            done += 1
            now = time.perf_counter()
            if now - last > PERIOD:
                last = now
                row = [f"{now - begin:.1f}", rounds, memory(), f"{1000 * spent / done:.3f}"]
                text = (
                    " ".join(f"{name}={size}" for name, size in sizes().items())
                    if "np2tf" in sys.modules
                    else ""
                )
                file.write(",".join(map(str, [*row, text])) + "\n")
                file.flush()
                spent, done = 0.0, 0
    print("rounds:", rounds)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2], "near" in sys.argv[3:])
