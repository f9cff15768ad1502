"""The acceptance table of control flow: what AutoGraph gets wrong or refuses is right here, or refused aloud.

Each program runs on NumPy and, translated, on TensorFlow's eager operations, as a graph and under XLA. Either
every way gives NumPy's values, dtypes and effects and the compiled ways did compile, or a code and a line say
why the function runs on the host, where it is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from unittest.mock import patch

import pytest

import np2tf
from np2tf.core.counts import counts
from np2tf.translator.facts.array_work import ArrayWork
from np2tf.translator.pipeline import Result
from tests.helpers.acceptance_rows import REFUSED_THERE, SILENTLY_WRONG, Row
from tests.helpers.closure_rows import CLOSURES
from tests.helpers.construct_rows import CONSTRUCTS
from tests.helpers.differential import arguments_of, load, observe, promoted
from tests.helpers.object_rows import OBJECTS
from tests.helpers.recursion_rows import RECURSIONS

ROWS = {**SILENTLY_WRONG, **REFUSED_THERE, **CONSTRUCTS, **CLOSURES, **RECURSIONS, **OBJECTS}


@contextmanager
def graph_mode() -> Iterator[None]:
    """Nothing is compiled by XLA: neither whole functions nor loops."""
    with (
        patch("np2tf.staging.compile.concrete_function.xla_pays", lambda ops: False),
        patch("np2tf.staging.control.loops.xla_pays", lambda ops: False),
    ):
        yield


@contextmanager
def as_it_comes() -> Iterator[None]:
    """XLA where it can compile the function."""
    yield


#: name of a way -> settings, what else holds meanwhile, the counter that a compiled call adds to
WAYS = {
    "tensors": ({"jit": "off", "eager": "tensorflow"}, as_it_comes, None),
    "graph": ({"jit": "on", "tier": "compile"}, graph_mode, "graph"),
    "xla": ({"jit": "on", "tier": "compile"}, as_it_comes, "compiled"),
}


@cache
def translated(source: str) -> Result:
    """The translation; every function that can be staged is, whether it pays or not."""
    with patch.object(ArrayWork, "pays", property(lambda work: work.function.name.value == "f")):
        return np2tf.convert(source)


def run(row: Row, way: str, text: str) -> list[str]:
    """Return the differences from NumPy when the translation runs this way."""
    settings, mode, counter = WAYS[way]
    counts.fallbacks.clear()
    counts._fallback_by_key.clear()
    if counter == "compiled" and row.graph_only:
        counter = "graph"
    problems = []
    expected = load(row.source)
    with np2tf.config.using(**settings), mode():
        found = load(text)
        for call in row.calls:
            wanted = observe(expected["f"], arguments_of(call, expected))
            before = getattr(counts, counter) if counter else 0
            got = observe(found["f"], arguments_of(call, found))
            if way == "tensors":
                got.aliases = wanted.aliases
            if row.numbers:
                got.result, wanted.result = promoted(got.result), promoted(wanted.result)
                got.arguments, wanted.arguments = promoted(got.arguments), promoted(wanted.arguments)
            difference = got.differs_from(wanted)
            if difference:
                problems.append(f"{way}, f({call}): {difference} {got.warnings}")
            staged = not (row.refused or row.refused_when_run) and wanted.error is None
            if counter and row.refused_when_run == "NP2TF539":  # which is told by the report alone
                if not any(
                    (fallback.function, fallback.code) == ("f", "NP2TF539") for fallback in counts.fallbacks
                ):
                    problems.append(f"{way}, f({call}): not told NP2TF539 but {counts.fallbacks}")
            elif counter and row.refused_when_run:
                wanted_code = rf"{row.refused_when_run} <program \d+>:\d+: f runs unjitted"
                if not (got.warnings and re.match(wanted_code, got.warnings[0])):
                    problems.append(f"{way}, f({call}): not told {row.refused_when_run} but {got.warnings}")
            if counter and staged and (getattr(counts, counter) == before) is not (call in row.handled):
                problems.append(f"{way}, f({call}): ran {got.ran} {got.warnings}")
    return problems


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ROWS)
def test_right_in_every_way(name: str, way: str) -> None:
    row = ROWS[name]
    result = translated(row.source)
    problems = run(row, way, result.text)
    assert not problems, "\n".join([*problems, *map(str, result.diagnostics), result.text])


@pytest.mark.parametrize("name", ROWS)
def test_refused_with_a_code_and_a_line(name: str) -> None:
    """A construct that is not staged has a finding at a line of the function; a staged construct has none."""
    row = ROWS[name]
    told = [item for item in translated(row.source).diagnostics if re.match("NP2TF[345]", item.code)]
    told = [item for item in told if item.code != "NP2TF310"]
    assert [item.code for item in told] == ([row.refused] if row.refused else [])
    assert all(1 <= item.line <= row.source.count("\n") for item in told)
