"""The text that is cut out of a file for a statement is what libcst prints for it."""

from __future__ import annotations

import ast
from pathlib import Path

import libcst as cst
import pytest
from libcst._nodes.internal import CodegenState

from np2tf.translator.pipeline import translate
from np2tf.translator.sources.options import Options
from np2tf.translator.tree import printing
from np2tf.translator.tree.printing import cut
from np2tf.translator.tree.source import Source, SourceError
from tests.helpers.fixture_files import programs

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = programs("*.py")
ODD = {
    "comments": (
        "# top\n"
        "\n"
        "# of x\n"
        "x = 1  # beside\n"
        "\n"
        "# below\n"
        "if x:\n"
        "    y = 2\n"
        "    # in the block\n"
        "# behind\n"
        "z = 3\n"
        "# end\n"
    ),
    "decorators": ("import a\n\n\n# above\n@a.b\n# between\n@a.c(1,\n     2)\n\ndef f(): pass\n\nx = 1\n"),
    "classes": (
        "class A:\n"
        "    '''Text.'''\n"
        "\n"
        "    x = 1\n"
        "\n"
        "    # of f\n"
        "    def f(self):\n"
        "        return 1\n"
        "\n"
        "    # last\n"
        "# out\n"
        "A()\n"
    ),
    "one line": ("x = 1; y = 2;\nif x: y = 1; z = 2\nfor i in x: pass\nw = 3\n"),
    "strings": ('x = """a\n\nb"""; y = 1\nz = (\n    1,  # one\n\n)\nw = 1 \\\n    + 2\n'),
    "carriage returns": ("x = 1\r\nif x:\r\n    # c\r\n    y = 2\r\n\r\nz = 3\r\n"),
    "tabs": ("if 1:\n\tx = 1\n\tif x:\n\t\ty = 2\n\t\t# inner\n\t# outer\nz = 1\n"),
    "branches": (
        "for i in []:\n    x = 1\nelse:\n    # c\n    y = 2\ntry:\n    z = 1\nfinally:\n    # d\n    w = 2\n"
    ),
    "other line ends": ("x = 'a\x0bb\x1c\u2028'\ny = 1\n\n\n"),
    "async": (
        "async def f():\n    # a\n    async with x as y:\n        # b\n        await y\n\n    return 1\n"
    ),
}


def _printed(module: cst.Module, node: cst.CSTNode, indents: tuple[str, ...]) -> str:
    state = CodegenState(module.default_indent, module.default_newline, indent_tokens=list(indents))
    node._codegen(state)
    return "".join(state.tokens)


def _disagreements(text: str) -> tuple[int, list[str]]:
    """Return the number of texts that were cut, and the texts that libcst prints in another way."""
    printing._texts.clear()
    module = Source.of(text).module
    entries = list(printing._texts.values())
    wrong = [cut for node, cut, habits in entries if _printed(module, node, habits[2:]) != cut]
    return len(entries), wrong


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_fixtures(path: Path) -> None:
    _, wrong = _disagreements(Source.of(path.read_bytes(), str(path)).text)
    assert wrong == []


@pytest.mark.parametrize("name", ODD)
def test_odd_texts(name: str) -> None:
    text = ODD[name]
    assert cut(cst.parse_module(text), ast.parse(text), text)
    number, wrong = _disagreements(text)
    assert wrong == []
    assert number > 1


def test_what_is_printed_in_another_way_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement that will change is printed first as it is, and compared with the file."""
    text = "import numpy as np\n\n\ndef f(x):\n    y = np.sin(x)\n    return y\n"
    assert translate(Source.of(text), Options()).changed
    as_written = cst.SimpleWhitespace._codegen_impl

    def twice(self: cst.SimpleWhitespace, state: CodegenState) -> None:
        as_written(self, state)
        as_written(self, state)

    monkeypatch.setattr(cst.SimpleWhitespace, "_codegen_impl", twice)
    with pytest.raises(SourceError) as caught:
        translate(Source.of(text), Options())
    assert caught.value.diagnostic.code == "NP2TF904"


def test_a_file_that_stays_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(cst.FunctionDef, "_codegen_impl")
    text = "import numpy\n\n\ndef f(x):\n    return x\n\n\nprint(numpy.__version__)\n"
    assert not translate(Source.of(text), Options()).changed
