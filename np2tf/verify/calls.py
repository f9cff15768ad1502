"""Calls a project's main() several times in this process: `python -m np2tf.verify.calls`, for `np2tf verify`.

Standard input holds the request, as JSON; the outcome is written as JSON into the file that it names. Every
call runs in a folder of its own. Of a translated project the calls of the hot functions are counted in the
last call of main(): by then it is known which functions are worth compiling.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from np2tf.runtime.jit import Jitted


def main() -> None:
    """Do what the request says."""
    request: dict[str, Any] = json.load(sys.stdin)
    sys.path.insert(0, request["path"])
    sys.argv = [request["package"], *request["arguments"]]
    if request["translated"]:
        from np2tf.imports.hook import install

        install([request["package"]])
    module, _, name = request["main"].partition(":")
    run: Callable[[list[str]], Any] = getattr(importlib.import_module(module), name)
    outcome: dict[str, Any] = {"seconds": [], "output": []}
    for number, folder in enumerate(request["folders"]):
        os.chdir(folder)
        if number == len(request["folders"]) - 1 and request["translated"]:
            _counted(run, request, outcome)
        else:
            _timed(run, request["arguments"], outcome)
    Path(request["outcome"]).write_text(json.dumps(outcome), encoding="utf-8")


def _timed(run: Callable[[list[str]], Any], arguments: list[str], outcome: dict[str, Any]) -> None:
    output = io.StringIO()
    start = perf_counter()
    with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
        run(list(arguments))
    outcome["seconds"].append(perf_counter() - start)
    outcome["output"].append(output.getvalue())


def _counted(run: Callable[[list[str]], Any], request: dict[str, Any], outcome: dict[str, Any]) -> None:
    from np2tf.imports.met import diagnostics_met
    from np2tf.runtime.stats import collect

    hot = {name: found for name in request["hot"] if (found := _jitted(name)) is not None}
    before = {name: _standing(found) for name, found in hot.items()}
    with collect() as counted:
        _timed(run, request["arguments"], outcome)
    outcome["counts"] = counted.to_data()
    outcome["hot"] = {
        name: {
            "calls": {kind: count - before[name][kind] for kind, count in _standing(found).items()},
            "inlined": found.inline_count,
            "reasons": found._compiler.reasons if "_compiler" in vars(found) else [],
        }
        for name, found in hot.items()
    }
    outcome["diagnostics"] = [
        {"code": found.code, "path": found.path, "line": found.line, "message": found.message}
        for found in diagnostics_met()
    ]


def _standing(jitted: Jitted) -> dict[str, int]:
    """How many calls of a function have run in each way so far (of short ones on the host: some of them)."""
    from np2tf.runtime.watched_loop import compiled_loops

    code = jitted.__code__
    return {
        "compiled": jitted.compiled_count,
        "graph": jitted.graph_count,
        "loops": compiled_loops(code.co_name, code.co_filename),
        "host": jitted._host.timed_calls,
    }


def _jitted(name: str) -> Jitted | None:
    """A function of a translated module, within whatever its own decorators have put around it; None if it is
    not jitted.
    """
    from np2tf.runtime.jit import Jitted

    module, _, qualname = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = inspect.getattr_static(found, part)
    while found is not None and not isinstance(found, Jitted):
        inner = ("__wrapped__", "__func__", "fget", "func")
        found = next((getattr(found, one) for one in inner if hasattr(found, one)), None)
    return found


if __name__ == "__main__":
    main()
