"""The positions found for one statement at a time are libcst's for the whole module."""

from __future__ import annotations

from pathlib import Path

import pytest

from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.positions import positions, told_by
from np2tf.translator.tree.nodes import walk
from np2tf.translator.tree.source import Source
from tests.helpers.fixture_files import programs

FIXTURES = programs("*.np.py")
#: The test looks at every seventh node of a fixture.
STEP = 7


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_each_statement_by_itself(path: Path) -> None:
    module = Source.of(path.read_bytes()).module
    facts, expected = Facts.of(module), positions(module)
    for node in list(walk(module))[1::STEP]:
        start, end = expected[node].start, expected[told_by(node)].end
        assert facts.place(node) == (start.line, start.column + 1, (end.line, end.column + 1)), node
