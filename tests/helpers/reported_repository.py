"""A source that HTML could misread, and the command that reports on it."""

from __future__ import annotations

from pathlib import Path

from np2tf.cli.main import np2tf
from tests.helpers.command_runner import CliRunner, Result

NASTY = '''\
import numpy as np

TEXT = "</script><script>document.title = 'broken'</script>&amp;<!-- '\\u2028'"


def relax(u, f):
    """A "quoted" <b>docstring</b> & more: `code`."""
    while np.abs(u).max() > 1:
        u = u / 2 + f  # </SCRIPT >
    u[0] = np.sin(1)
    u[1] = np.cos(1)
    return u


def wrong(x):
    return np.wrong(x)
'''
#: A short report of a run.
_TIME = {"calls": 2, "seconds": 0.5}
RAN = {
    "seconds": 3.0,
    "where": {
        **dict.fromkeys(("compiled", "numpy", "eager", "tracing", "np2tf"), _TIME),
        "xla": {"calls": 0, "seconds": 0.25},
        "importing": {"calls": 0, "seconds": 0.25},
    },
    "on_host": [{"path": "/here/a.py", "line": 7, "share": 0.25, "text": "`f`: loop: calls `<g>`"}],
    "spent": {"importing": 0.25, "translating": 0.0, "tracing": 0.5, "xla": 0.25},
    "accounts": [{"saved": 2.0}, {"saved": -0.5}],
    "functions": [
        {
            "name": "<f>",
            "path": "/here/a/rather/long/name/of/a/folder/a.py",
            "line": 3,
            "compiled": {"calls": 4, "seconds": 0.004},
            "graph": {"calls": 0, "seconds": 0.0},
            "host": {"calls": 2, "seconds": 0.02},
            "compiling": {"calls": 1, "seconds": 0.25},
            "inlined": 0,
        }
    ],
    "unjitted": [{"name": "g", "path": "/b.py", "line": 1, "code": "NP2TF520", "why": "`x` <y>", "calls": 1}],
}


def report(*words: str | Path) -> Result:
    """Run the command."""
    return CliRunner().invoke(np2tf, ["report", "--jobs", "1", *map(str, words)])
