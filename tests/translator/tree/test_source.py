"""Bytes in, the same bytes out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from np2tf import convert
from np2tf.translator.batch.one_file import translate_bytes
from np2tf.translator.sources.options import Options
from np2tf.translator.tree.source import Source, SourceError


def round_trip(data: bytes) -> bytes:
    """Parse and print."""
    source = Source.of(data)
    return source.bytes_of(source.text_of(source.module))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"x = 1",
        b"x = 1\r\ny = 2\r\n",
        b"x = 1\r\ny = 2\nz = 3\r\n",
        b"\xef\xbb\xbfx = 1\n",
        b"\xef\xbb\xbf# coding: utf-8\nx = '\xc3\xa9'\n",
        b"# -*- coding: latin-1 -*-\nx = '\xe9'\n",
        b"#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n",
        b"if x:\n\ty = 1\n\t# tab\n",
        b"\x0c\nx = 1\n\x0c\n",
        b"x = '''a\r\nb'''\r\n",
        b"x = 1 \\\n    + 2\n",
        b"def f():\n    pass\n    # end\n# more\n   # odd\n",
        b"x = [\n  1,  # one\n\n  2 ]  \t\n",
        b"# only a comment",
        b"import numpy\n\x0cx = 1\n",
        b"\x0cimport numpy\n\x0c\x0c \x0cx = 1\n",
        b"if x:\n\x0c    y = 1\n  \x0c    z = 2\n    \x0c    w = 1\n",
        b"if x:\r\n    y = 1\r\n\x0celif y:\r\n    y = 1\r\n \x0celse:\r\n    z = 2\r\n",
        b"try:\n    x\n\x0cexcept E:\n    x\n\x0celse:\n    x\n\x0cfinally:\n    x\n",
        b"match x:\n\x0c  case 1:\n    y\n\x0c  case 2:\n    y\n",
        b"\x0c@d\n\x0c@e(1,\n\x0c 2)\n\x0cdef f():\n    return 1\n",
        b"@d\n# c\n \x0c\n\x0cclass A:\n  \x0c  x = 1\n".replace(b"  \x0c  x", b"\x0c  x"),
        b"x = 1\n\n    ",
        b"def f():\n    return 1\n\n    \x0c",
        b"import numpy\rx = 1\r",
        b"def f():\r    return 1\r\r\x0cx = '''\r'''  # c\r# d\r",
        b"x = 1\r\n\r",
        b"x = 1\r\r  ",
    ],
)
def test_round_trip(data: bytes) -> None:
    """Line ends, BOM, tabs, form feeds, continuation lines and encodings survive."""
    assert round_trip(data) == data


CLAUSES = """import numpy as np
@d
# e
@e(1,
   2)
def f(a,
      b):
    '''doc

    more'''
    if a:
        x = 1
    elif b:
        # comment
        x = 2

    else: x = 3; y = 2
    try:
        pass
    except E:
        pass
    finally:
        pass
    match a:
        case 1:
            pass
        case [1, 2]: pass
    while 1:
        class A: pass

        class B(
            C): y = 1

    # end
with a, \\
     b:
    x = 1
"""


@given(st.data())
def test_form_feeds_at_any_place(data: st.DataObject) -> None:
    """A program with form feeds comes back as it was, whatever its line ends."""
    lines = CLAUSES.split("\n")
    for _ in range(data.draw(st.integers(1, 4))):
        number = data.draw(st.integers(0, len(lines) - 1))
        line = lines[number]
        column = data.draw(st.sampled_from([0, len(line) - len(line.lstrip()), len(line)]))
        form_feed = data.draw(st.sampled_from(["\f", "\f\f", " \t\f"]))
        lines[number] = line[:column] + form_feed + line[column:]
    text = data.draw(st.sampled_from(["\n", "\r\n", "\r"])).join(lines)
    try:
        source = Source.of(text)
    except SourceError as error:  # a form feed in an indentation makes it shorter
        assert error.diagnostic.code == "NP2TF901"  # noqa: PT017
        return
    assert source.text_of(source.module) == text


@given(st.text(alphabet=" \t\nx=1#'+()é\r\f:", max_size=30))
def test_any_text(text: str) -> None:
    """Whatever is valid Python comes back as it was; whatever is not is reported with a place."""
    result = convert(text + "\nimport numpy\n")
    codes = {found.code for found in result.diagnostics}
    assert codes <= {"NP2TF901"}
    assert all(found.line >= 1 and found.column >= 0 for found in result.diagnostics)
    assert result.text == text + "\nimport numpy\n"


@pytest.mark.parametrize(
    ("source", "code", "line", "column"),
    [
        (b"x = 1\ndef f(:\n", "NP2TF901", 2, 7),
        (b"x = (\n", "NP2TF901", 1, 5),
        (b"if x:\ny = 1\n", "NP2TF901", 2, 1),
        (b"if x:\n        y = 1\n\tz = 2\n", "NP2TF901", 3, 8),
        (b"x = 1\0\n", "NP2TF901", 1, 6),
        (b"x = 1\ny =\0 1\n", "NP2TF901", 2, 4),
        ("import numpy\n".encode("utf-16"), "NP2TF902", 1, 1),
        ("import numpy\n".encode("utf-32"), "NP2TF902", 1, 1),
        (b"# coding: utf-16\nimport numpy\n", "NP2TF902", 1, 1),
        (b"x = 1\ny = '\xff'\n", "NP2TF902", 2, 6),
        (b"# coding: no-such-thing\n", "NP2TF902", 1, 1),
        (b"# coding: rot13\n", "NP2TF902", 1, 1),
        (b"\xef\xbb\xbf# coding: latin-1\n", "NP2TF902", 1, 1),
        (b"# coding: cp932\nx = 1  # \x87\x90\n", "NP2TF904", 1, 1),  # would be written back as 81 e0
        (b"# coding: unicode_escape\nx = 1\n", "NP2TF904", 1, 1),
        (b"# coding: utf-7\nx = 1  # +AGE-\n", "NP2TF904", 1, 1),
        (
            b"x = " + b"(" * 150 + b"1" + b")" * 150 + b"\n" + b"y = " + b"-" * 40_000 + b"1\n",
            "NP2TF903",
            1,
            1,
        ),
    ],
)
def test_what_cannot_be_read(source: bytes, code: str, line: int, column: int) -> None:
    """Syntax errors, wrong encodings and absurd nesting are diagnostics, with file, line and column."""
    with pytest.raises(SourceError) as caught:
        round_trip(b"import numpy\n"[:0] + source)
    found = caught.value.diagnostic
    assert found.code == code
    assert found.line == line
    assert code != "NP2TF901" or abs(found.column - column) <= 8  # Python versions differ by a few columns


def test_what_cannot_be_printed_back_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that the parser would not print back is reported, not changed."""
    monkeypatch.setattr("np2tf.translator.tree.source.cut", lambda module, program, text: False)
    monkeypatch.setattr("np2tf.translator.tree.source.print_module", lambda module: module.code + " ")
    result = convert("import numpy as np\nx = np.pi\n")
    assert [found.code for found in result.diagnostics] == ["NP2TF904"]
    assert not result.changed


@pytest.mark.parametrize("value", ["(a if b else a)", "(lambda: a)"])
def test_what_the_parser_refuses_is_left_alone(value: str) -> None:
    """libcst wants a space between some keywords and a bracket; Python does not. The place is told."""
    result = convert(f"import numpy as np\n\ndef f(a, b):\n    if a:\n        return{value}\n")
    found = [(finding.code, finding.line, finding.column) for finding in result.diagnostics]
    assert found in ([("NP2TF907", 5, 9)], [])
    assert all("at least one space" in finding.message for finding in result.diagnostics)


def test_convert_reports_instead_of_raising() -> None:
    """`convert` returns the text as it was, with the diagnostic."""
    result = convert("import numpy as np\ndef f(:\n", path="a.py")
    assert result.text == "import numpy as np\ndef f(:\n"
    assert not result.changed
    assert str(result.diagnostics[0]).startswith("a.py:2:7: NP2TF901 ")


@pytest.mark.parametrize("depth", [400, 4000])
def test_deep_nesting_is_survived(depth: int) -> None:
    """A long chain of operators is translated or reported, never a crash."""
    text = "import numpy as np\nx = " + " + ".join(["np.pi"] * depth) + "\n"
    result = convert(text)
    assert result.text.count("tnp.pi") == depth or [d.code for d in result.diagnostics] == ["NP2TF903"]


def test_non_ascii_names_and_text() -> None:
    """Translation does not disturb what it does not know."""
    text = "import numpy as np\nπ = np.pi  # ∞\ns = '\U0001f600' + 'é'\n"
    assert convert(text).text == text.replace("import numpy as np", "from np2tf import tnp").replace(
        "np.pi", "tnp.pi"
    )


def test_bytes_keep_their_encoding(tmp_path) -> None:
    """A translated latin-1 file is latin-1."""
    data = "# coding: latin-1\nimport numpy as np\nx = np.ones(2)  # é\n".encode("latin-1")
    outcome = translate_bytes(data, tmp_path / "a.py", tmp_path, Options())
    assert outcome.data.decode("latin-1").endswith("x = tnp.ones(2)  # é\n")
