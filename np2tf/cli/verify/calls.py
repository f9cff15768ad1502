"""Calls a project's main() several times in this process: `python -m np2tf.cli.verify.calls`, for `np2tf
verify`.

Standard input holds the request, as JSON; `main` writes the outcome, as JSON, into the file that the request
names. Every call runs in a folder of its own. For a translated project, the last timed call of main() also
counts where each call of a function ran: by then np2tf knows which functions are worth compiling. One more
call, which is not timed, counts how often Python enters the hot functions: compiled code does not enter them.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import json
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from np2tf.staging.host.jit import JittedFunction


def main() -> None:
    """Read the request from standard input, run it, and write the outcome."""
    request: dict[str, Any] = json.load(sys.stdin)
    sys.path.insert(0, request["path"])
    sys.argv = [request["package"], *request["arguments"]]
    if request["translated"]:
        from np2tf.loading.findings import warn_in_one_line
        from np2tf.loading.import_hook import install

        warn_in_one_line()
        install([request["package"]])
    module, _, name = request["main"].partition(":")
    run: Callable[[list[str]], Any] = getattr(importlib.import_module(module), name)
    outcome: dict[str, Any] = {"seconds": [], "output": []}
    for number, folder in enumerate(request["folders"]):
        os.chdir(folder)
        if number == len(request["folders"]) - 1 and request["translated"]:
            _count(run, request, outcome)
        else:
            _time(run, request["arguments"], outcome)
    os.chdir(request["profiled"])
    outcome["entered"] = _count_entries(run, request)
    Path(request["outcome"]).write_text(json.dumps(outcome), encoding="utf-8")


def _time(run: Callable[[list[str]], Any], arguments: list[str], outcome: dict[str, Any]) -> None:
    output = io.StringIO()
    start = perf_counter()
    with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
        run(list(arguments))
    outcome["seconds"].append(perf_counter() - start)
    outcome["output"].append(output.getvalue())


def _count(run: Callable[[list[str]], Any], request: dict[str, Any], outcome: dict[str, Any]) -> None:
    from np2tf.core.counts import collect
    from np2tf.loading.import_hook import diagnostics_met

    hot = {name: function for name in request["hot"] if (function := _find_jitted(name)) is not None}
    before = {name: _run_counts(function) for name, function in hot.items()}
    with collect() as counts:
        _time(run, request["arguments"], outcome)
    outcome["counts"] = counts.to_data()
    outcome["hot"] = {
        name: {
            "calls": {kind: count - before[name][kind] for kind, count in _run_counts(function).items()},
            "reasons": function._compiler.reasons if "_compiler" in vars(function) else [],
        }
        for name, function in hot.items()
    }
    outcome["diagnostics"] = [
        {
            "code": diagnostic.code,
            "path": diagnostic.path,
            "line": diagnostic.line,
            "message": diagnostic.message,
        }
        for diagnostic in diagnostics_met()
    ]


def _count_entries(run: Callable[[list[str]], Any], request: dict[str, Any]) -> dict[str, int]:
    """Call main() once, and return how often Python entered each hot function."""
    counts = dict.fromkeys(request["hot"], 0)
    names: dict[types.CodeType, str | None] = {}

    def count(frame: types.FrameType, event: str, _: Any) -> None:
        if event == "call":
            code = frame.f_code
            if code not in names:
                names[code] = next(
                    (name for name, place in request["hot"].items() if _is_at(code, *place)), None
                )
            if (name := names[code]) is not None:
                counts[name] += 1

    sys.setprofile(count)
    try:
        _time(run, request["arguments"], {"seconds": [], "output": []})
    finally:
        sys.setprofile(None)
    return counts


def _is_at(code: types.CodeType, path: str, name: str, first: int, last: int) -> bool:
    """Return whether `code` is the code of the named function in these lines of the file."""
    return code.co_filename == path and code.co_name == name and first <= code.co_firstlineno <= last


def _run_counts(function: JittedFunction) -> dict[str, int]:
    """Return how many calls of a function have run in each way so far.

    The count of host calls is that of the timed calls: np2tf times only some of the short calls on the host.
    """
    from np2tf.staging.host.watched_loops import compiled_loops

    code = function.__code__
    return {
        "compiled": function.compiled_count,
        "graph": function.graph_count,
        "loops": compiled_loops(code.co_name, code.co_filename),
        "host": function._host.timed_calls,
    }


def _find_jitted(name: str) -> JittedFunction | None:
    """Return the jitted function of a translated module that a name leads to; None if the function is not
    jitted.

    The search looks inside the wrappers that the function's own decorators have put around it.
    """
    from np2tf.staging.host.jit import JittedFunction

    module, _, qualname = name.partition(":")
    value: Any = importlib.import_module(module)
    for part in qualname.split("."):
        value = inspect.getattr_static(value, part)
    while value is not None and not isinstance(value, JittedFunction):
        inner = ("__wrapped__", "__func__", "fget", "func")
        value = next((getattr(value, inner_name) for inner_name in inner if hasattr(value, inner_name)), None)
    return value


if __name__ == "__main__":
    main()
