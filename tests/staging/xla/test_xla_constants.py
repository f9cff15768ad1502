"""The values of a call are arguments of the XLA program: new values do not compile the program anew."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import np2tf
from tests.helpers.differential import HEAD, load, translation

#: Uses of elements of `k`, an array of places, in round i of a loop over `x` and `m`; the result is `r`.
USES = {
    "element": "r[i] = x[k[i]]",
    "negative element": "r[i] = x[-1 - k[i]]",
    "element of a matrix": "r[i] = m[k[i], 2]",
    "row": "r[i] = m[k[i]].sum()",
    "column": "r[i] = m[:, k[i]].max()",
    "window": "r[i] = x[k[i]:k[i] + 3].sum()",
    "block": "r[i] = m[k[i]:k[i] + 2, k[i]:k[i] + 2].sum()",
    "write": "r[k[i]] = x[i]",
    "write of a window": "r[k[i]:k[i] + 3] = x[i]",
    "update": "r[k[i]] += x[i]",
    "exchange": "x[i], x[k[i]] = x[k[i]], x[i]; r[i] = x[i]",
    "bound": "for j in range(k[i], 20):\n            r[i] += x[j]",
    "branch": "if k[i] > 7:\n            r[k[i]] = x[i]",
    "branch of blocks": "if k[i] > 7:\n            m[k[i]] = m[i] + x\n        r[i] = m[0, i]",
    "chosen": "j = k[i]\n        if x[k[i - 1]] > x[j]:\n            j = k[i - 1]\n        r[i] = x[j]",
    "chain": "r[i] = x[k[k[i]]]",
    "length": "r[i] = x[:k[i]].sum()",
    "both ends": "r[i] = x[k[i]:k[i - 1]].sum()",
    "draw": "r[i] = x[np.random.randint(0, 5)] + k[i]",
}


def compiled_again(dump: Path) -> list[str]:
    """The uses of which the second call, with other values, makes XLA compile; XLA writes to `dump`."""
    found = []
    for name, use in USES.items():
        source = f"{HEAD}def f(x, m, k, r):\n    for i in range(20):\n        {use}\n    return r\n"
        with np2tf.config.using(jit="on", tier="compile"):
            function = load(translation(source))["f"]
            counts = []
            for seed in (1, 2):
                generator = np.random.default_rng(seed)
                x, m, k = generator.random(20), generator.random((20, 20)), generator.integers(0, 14, 20)
                assert function.lower(x, m, k, np.zeros(20)).how == "xla", name
                function(x, m, k, np.zeros(20))
                counts.append(len(list(dump.glob("*before_optimizations.txt"))))
        assert counts[0], name
        if counts[0] != counts[1]:
            found.append(name)
    return found


def test_no_argument_is_compiled_in(tmp_path: Path) -> None:
    # XLA reads its flags once, before anything is compiled.
    flags = {"XLA_FLAGS": f"--xla_dump_to={tmp_path} --xla_dump_hlo_as_text", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, __file__, str(tmp_path)],
        env={**os.environ, **flags, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[-2] == "compiled again: []", done.stdout


if __name__ == "__main__":
    print("compiled again:", compiled_again(Path(sys.argv[1])))
