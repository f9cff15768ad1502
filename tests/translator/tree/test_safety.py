"""The second look at a translation: what it finds, and that it finds nothing where all is well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from np2tf.cli.main import np2tf as command
from np2tf.translator.batch import one_file
from np2tf.translator.pipeline import Result, translate
from np2tf.translator.sources.options import Options
from np2tf.translator.tree.safety import unsafe
from np2tf.translator.tree.source import Source
from tests.helpers.command_runner import CliRunner

SOURCE = '''\
"""Text."""
import os; import sys
import numpy as np

LIMIT = 3  # of rounds


class Plain:
    """Nothing to translate."""

    size = 1


def f(x):
    return np.sin(x)


y = 'a', \\
    "b"
'''


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda text: text.replace("tnp.sin(x)", "tnp.sin(x"), "it is not valid Python: "),
        (lambda text: text.replace("    return tnp", "return tnp"), "it is not valid Python: "),
        (lambda text: text.replace("def f(x):", "nonlocal q"), "it is not valid Python: "),
        (lambda text: text.replace("LIMIT = 3", "LIMIT = 4"), "a statement has changed: LIMIT = 3"),
        (lambda text: text.replace("  # of rounds", ""), "a statement has changed: LIMIT = 3"),
        (lambda text: text.replace("    size = 1\n", "    size = 1\n    more = 2\n"), "class Plain:"),
        (lambda text: text.replace('"b"', "'b'"), "a statement has changed: y = 'a'"),
        (lambda text: text.replace('"""Text."""\n', ""), "a statement has changed: "),
        (
            lambda text: text.replace("LIMIT = 3  # of rounds\n", "") + "LIMIT = 3  # of rounds\n",
            "class Plain:",
        ),
    ],
)
def test_harm_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[str], str], told: str
) -> None:
    """The file is left alone, and it is np2tf's own fault: status 123. `--fast` does not look."""

    def harmful(source: Source, options: Options) -> Result:
        made = translate(source, options)
        text = harm(made.text)
        assert text != made.text
        return replace(made, text=text)

    file = tmp_path / "a.py"
    file.write_text(SOURCE)
    monkeypatch.setattr(one_file, "translate", harmful)
    result = CliRunner().invoke(command, ["convert", "--write", str(file)])
    assert result.exit_code == 123
    assert "NP2TF908" in result.stderr
    assert told in result.stderr
    assert file.read_text() == SOURCE
    assert CliRunner().invoke(command, ["convert", "--write", "--fast", str(file)]).exit_code == 0
    assert file.read_text() != SOURCE


def test_bytes_that_say_something_else() -> None:
    source = Source.of("# coding: latin-1\nimport numpy as np\nx = np.ones(2)  # é\n".encode("latin-1"))
    made = translate(source, Options())
    assert unsafe(source, made.text, made.touched_nodes, source.bytes_of(made.text)) is None
    told = unsafe(source, made.text, made.touched_nodes, made.text.encode("utf-8"))
    assert told == "its bytes do not decode to its text"


def test_a_text_that_changed_and_was_not_translated() -> None:
    source = Source.of("x = 1\n")
    assert unsafe(source, "x = 2\n", frozenset(), b"x = 2\n") is not None


def test_what_python_does_not_compile_before_it_need_not_after() -> None:
    """`return` outside of a function parses; a translation of such a file is as good."""
    source = Source.of("import numpy as np\nreturn np.ones(2)\n")
    made = translate(source, Options())
    assert made.changed
    assert unsafe(source, made.text, made.touched_nodes, source.bytes_of(made.text)) is None
