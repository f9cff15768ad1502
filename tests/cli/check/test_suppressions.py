"""Suppressions: which findings they hide, which of them are findings themselves, and edits of them."""

from __future__ import annotations

import ast
import io
import os
import stat
import tokenize
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from np2tf import convert
from np2tf.cli.check.edits import rewrite, with_suppressions, without
from np2tf.cli.check.findings import CheckedFile, judge
from np2tf.cli.main import np2tf as command
from np2tf.core.suppressions import Suppressions
from tests.helpers.command_runner import CliRunner, Result


def check(*args: object) -> Result:
    """Run `np2tf check` in this process, one line for each finding."""
    return CliRunner().invoke(command, ["check", "--format", "concise", "-q", *map(str, args)])


def lines_found(text: str) -> list[int]:
    """The lines in which the translator finds something."""
    return [found.line for found in convert("import numpy as np\n" + text).diagnostics]


def told(folder: Path, text: str | bytes, *args: str) -> list[str]:
    """Return the command's output on a file, without the path: place, code and message."""
    (folder / "a.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    lines = check(*args, folder).stdout.splitlines()
    return [line.partition("a.py:")[2] for line in lines]


# -- what they cover


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("np.wrong\nnp.wrong", [2, 3]),
        ("np.wrong  # np2tf: ignore\nnp.wrong", [3]),
        ("np.wrong  #np2tf:ignore[NP2TF002]\nnp.wrong", [3]),
        ("np.wrong  # np2tf: ignore[NP2TF002] as we know\nnp.wrong", [3]),
        ("np.wrong  # noqa: E501  # np2tf: ignore[NP2TF002]  # more\nnp.wrong", [3]),
        ("np.wrong  # np2tf: ignore[NP2TF003]", [2]),
        ("np.wrong  # np2tf: ignore[NP2TF003,NP2TF002]", []),
        # statements of several lines: the comment may stand at any of them
        ("f(\n    np.wrong,\n    np.wrong2,\n)  # np2tf: ignore\nnp.wrong", [6]),
        ("f(  # np2tf: ignore\n    np.wrong,\n    np.wrong2,\n)\nnp.wrong", [6]),
        ("f(\n    np.wrong,  # np2tf: ignore\n    np.wrong2,\n)\nnp.wrong", [6]),
        ("f(\n    np.wrong,\n    # np2tf: ignore\n    np.wrong2,\n)\nnp.wrong", [7]),
        ("x = np.wrong + \\\n    np.wrong2  # np2tf: ignore\nnp.wrong", [4]),
        ("f('''\n''', np.wrong, '''\n''')  # np2tf: ignore\nnp.wrong", [5]),
        ("np.wrong; np.wrong2  # np2tf: ignore\nnp.wrong", [3]),
        # a comment on a line of its own covers the statement that follows
        ("# np2tf: ignore\nnp.wrong\nnp.wrong", [4]),
        ("# np2tf: ignore\n# why\n\nf(\n    np.wrong)\nnp.wrong", [7]),
        ("if f:\n    # np2tf: ignore\n    np.wrong\n    np.wrong", [5]),
        ("np.wrong\n# np2tf: ignore", [2]),
        # of a statement with a block, the header
        ("if np.wrong:  # np2tf: ignore\n    np.wrong", [3]),
        ("@np.wrong\n@np.wrong\ndef g(x=np.wrong):  # np2tf: ignore\n    np.wrong", [5]),
        ("# np2tf: ignore\n@np.wrong\n@np.wrong\ndef g(x=np.wrong):\n    np.wrong", [6]),
        ("@np.wrong  # np2tf: ignore\ndef g(x=np.wrong): pass\nnp.wrong", [4]),
        # files
        ("np.wrong\nnp.wrong\n# np2tf: file-ignore", []),
        ("# np2tf: file-ignore[NP2TF002]\nnp.wrong\nnp.wrong", []),
        ("# np2tf: ignore-file[NP2TF002]\nnp.wrong", []),
        ("# np2tf: file-ignore[NP2TF003]\nnp.wrong", [3]),
        # texts are no comments
        ("f('# np2tf: ignore', np.wrong)", [2]),
        ("f('''\n# np2tf: file-ignore\n''')\nnp.wrong", [5]),
        # lines as Python counts them
        ("s = '\x0c \u2028 \x85'; np.wrong  # np2tf: ignore\nnp.wrong", [3]),
        ("np.wrong  # np2tf: ignore\r\nnp.wrong\r\n", [3]),
        # what is not written as it should be hides nothing
        ("np.wrong  # np2tf: ignore NP2TF002", [2]),
        ("np.wrong  # np2tf: ignore[NP2TF002", [2]),
        ("np.wrong  # np2tf: ignore[]", [2]),
        ("np.wrong  # np2tf ignore", [2]),
        ("np.wrong  # np2tf: noqa", [2]),
        ("np.wrong  # np2tf: ignore[np2tf002]", [2]),
    ],
)
def test_what_they_hide(text: str, left: list[int]) -> None:
    """The lines whose findings are still there."""
    assert lines_found(text) == left


def test_a_mark_of_the_byte_order(tmp_path: Path) -> None:
    """A file that begins with a mark of the byte order has its suppressions, too."""
    text = "\ufeffimport numpy as np; np.wrong  # np2tf: ignore\nnp.wrong\n"
    assert told(tmp_path, text) == ["2:1: NP2TF002 NumPy has no public name `np.wrong`; it stays on NumPy"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_those_of_python(end: str) -> None:
    """Whatever ends them, and whatever else stands in them."""
    text = end.join(
        ["", "\x0cx  # np2tf: ignore[NP2TF001]", "s = '\u2028\x0c'; y  # np2tf: ignore[NP2TF002]"]
    )
    places = [
        (comment.line, comment.start, comment.first, comment.last)
        for comment in Suppressions.of(text).comments
    ]
    assert places == [(2, 4, 2, 2), (3, 13, 3, 3)]
    source = end.join(["import numpy as np", "np.wrong  # np2tf: ignore", "np.wrong"])
    assert [found.line for found in convert(source).diagnostics] == [3]


def test_a_source_that_cannot_be_read_has_none() -> None:
    """Brackets that do not close, and blocks that do not begin."""
    for text in ("f(  # np2tf: file-ignore", "if x:\n  y\n z  # np2tf: ignore", "'''  # np2tf: ignore"):
        assert Suppressions.of(text) == Suppressions()


def test_linked_findings(tmp_path: Path) -> None:
    """A comment hides a finding that a callee in another file causes. A check that does not read the other
    file does not call the comment unused.
    """
    (tmp_path / "other.py").write_text("def act(x):\n    print(x, file=OUT)\n    return x\n")
    text = (
        "import numpy as np\nfrom other import act\n\n\n"
        "def run(x):{comment}\n    for i in range(9):\n        x = np.sin(x) + act(x)\n    return x\n"
    )
    (found,) = told(tmp_path, text.format(comment=""))
    assert found.startswith("5:1: NP2TF402 calls of `run` run on NumPy")
    hidden = text.format(comment="  # np2tf: ignore[NP2TF402]")
    assert told(tmp_path, hidden) == []
    assert check(tmp_path / "a.py").stdout == ""
    (tmp_path / "other.py").write_text("def act(x):\n    return x\n")
    assert told(tmp_path, hidden) == ["5:14: NP2TF911 `NP2TF402` in `# np2tf: ignore[…]` hides nothing"]
    assert check(tmp_path / "a.py").stdout == ""


# -- findings about them


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1  # np2tf: ignore\n", ["2:8: NP2TF911 `# np2tf: ignore` hides nothing"]),
        ("# np2tf: file-ignore\n", ["2:1: NP2TF911 `# np2tf: file-ignore` hides nothing"]),
        (
            "np.wrong  # np2tf: ignore[NP2TF002, NP2TF401]\n",
            ["2:11: NP2TF911 `NP2TF401` in `# np2tf: ignore[…]` hides nothing"],
        ),
        (
            "np.wrong  # np2tf: ignore[NP2TF002, NP2TF002]\n",
            ["2:11: NP2TF911 `NP2TF002`, again, in `# np2tf: ignore[…]` hides nothing"],
        ),
        (
            "# np2tf: file-ignore[NP2TF002]\nnp.wrong  # np2tf: ignore[NP2TF002]\n",
            ["2:1: NP2TF911 `NP2TF002` in `# np2tf: file-ignore[…]` hides nothing"],
        ),
        (
            "np.wrong  # np2tf: ignore[np2tf002]\n",
            [
                "2:1: NP2TF002 NumPy has no public name `np.wrong`; it stays on NumPy",
                "2:11: NP2TF912 cannot ignore an unknown code: `np2tf002`; did you mean NP2TF002?",
            ],
        ),
        ("x  # np2tf: ignore[E501]\n", ["2:4: NP2TF912 cannot ignore an unknown code: `E501`"]),
        (
            "x  # np2tf: ignore[NP2TF4]\n",
            ["2:4: NP2TF912 cannot ignore an unknown code: `NP2TF4`; did you mean NP2TF4?"],
        ),
        (
            "x  # np2tf: ignore NP2TF002\n",
            ["2:4: NP2TF913 `# np2tf: ignore NP2TF002` hides nothing: codes must be in brackets"],
        ),
        (
            "x  # np2tf: ignore[NP2TF002\n",
            ["2:4: NP2TF913 `# np2tf: ignore[NP2TF002` hides nothing: a bracket is missing"],
        ),
        (
            "x  # np2tf: ignore[]\n",
            ["2:4: NP2TF913 `# np2tf: ignore[]` hides nothing: its brackets contain no code"],
        ),
        (
            "x  # np2tf: ignore[NP2TF002 NP2TF003]\n",
            [
                "2:4: NP2TF913 `# np2tf: ignore[NP2TF002 NP2TF003]` hides nothing: "
                "codes must be separated by commas"
            ],
        ),
        (
            "x  # np2tf ignore\n",
            ["2:4: NP2TF913 `# np2tf ignore` hides nothing: it must begin with `np2tf:`"],
        ),
        (
            "x  # NP2TF: ignore\n",
            ["2:4: NP2TF913 `# NP2TF: ignore` hides nothing: it must begin with `np2tf:`"],
        ),
        (
            "x  # np2tf: ignores[NP2TF002]\n",
            [
                "2:4: NP2TF913 `# np2tf: ignores[NP2TF002]` hides nothing: "
                "it is neither `ignore` nor `file-ignore`"
            ],
        ),
        ("x  # see np2tf's documentation, and np2tf: all of it\n", []),
        ("x = '# np2tf: ignore'\n", []),
    ],
)
def test_findings_about_suppressions(text: str, expected: list[str], tmp_path: Path) -> None:
    """Suppressions that hide nothing, name unknown codes, or cannot be read are findings."""
    assert told(tmp_path, "import numpy as np\n" + text) == expected
    assert check(tmp_path).exit_code == (1 if expected else 0)


def test_a_file_that_never_names_numpy(tmp_path: Path) -> None:
    """A comment that names np2tf makes no translation of a file: it is judged as before, and translated."""
    loop = "    for i in range(len(x)):\n        x[i, :] = x[i, :] * 0.5 - i\n"
    fit = f"def f(x):\n{loop}    return x\n"
    text = f"{fit}\n\ndef g(x):\n{loop}        print(x, file=OUT)\n    return x\n"
    (found,) = told(tmp_path, text, "--everything")
    assert found.startswith("10:9: NP2TF401")
    hidden = text.replace("OUT)", "OUT)  # np2tf: ignore[NP2TF401]")
    assert told(tmp_path, hidden, "--everything") == []
    assert told(tmp_path, text) == []
    assert convert(f"# np2tf: file-ignore\n{fit}").text.count("@np2tf.jit") == 1
    translated = convert(fit).text
    assert convert(translated).text == translated


def test_nothing_is_unused_that_nobody_looked_for(tmp_path: Path) -> None:
    """Of codes that are not selected, in files that do not parse, and in translations."""
    text = "import numpy as np\nx = 1  # np2tf: ignore[NP2TF401]\ny = 1  # np2tf: ignore\n"
    assert len(told(tmp_path, text)) == 2
    assert told(tmp_path, text, "--ignore", "NP2TF4") == []
    assert len(told(tmp_path, text, "--select", "NP2TF4,NP2TF911")) == 1
    assert told(tmp_path, text, "--ignore", "NP2TF9") == []
    assert [line[:12] for line in told(tmp_path, text + "def f(:\n")] == ["4:7: NP2TF90"]
    assert told(tmp_path, "from np2tf import tnp\n" + text.partition("\n")[2]) == []


def test_findings_about_suppressions_can_be_suppressed(tmp_path: Path) -> None:
    """A comment suppresses such a finding if it names its code; a comment without codes does not."""
    head = "import numpy as np\n"
    assert told(tmp_path, f"{head}x = 1  # np2tf: ignore[NP2TF401, NP2TF911]\n") == []
    assert told(tmp_path, f"{head}# np2tf: ignore[NP2TF401, NP2TF911]\nx = 1\n") == []
    assert told(tmp_path, f"{head}x  # np2tf: ignore[NP2TF401]\n# np2tf: file-ignore[NP2TF911]\n") == []
    assert told(tmp_path, f"{head}np.wrong  # np2tf: ignore[NP2TF002, NP2TF911]\n") == []
    (found,) = told(tmp_path, f"{head}np.wrong  # np2tf: ignore[NP2TF002, NP2TF912]\n")
    assert found.startswith("2:11: NP2TF911 `NP2TF912`")
    assert (
        len(told(tmp_path, f"{head}# np2tf: file-ignore\nx = np.wrong\ny = 1  # np2tf: ignore[NP2TF401]\n"))
        == 1
    )


# -- edits

MANY = """\
#!/usr/bin/env python
import numpy as np


@np.wrong
def f(x=np.wrong):  # type: (int) -> int
\tx = f(np.wrong, np.asscalar2,
\t      '''\t
''')   \x0c
\tif x: np.wrong
\treturn np.wrong  # np2tf: ignore[NP2TF003]  # noqa


class C: y = np.wrong; z = \\
    np.wrong"""
ADDED = """\
#!/usr/bin/env python
import numpy as np


@np.wrong
def f(x=np.wrong):  # type: (int) -> int  # np2tf: ignore[NP2TF002]
\tx = f(np.wrong, np.asscalar2,
\t      '''\t
''')   \x0c  # np2tf: ignore[NP2TF002]
\tif x: np.wrong  # np2tf: ignore[NP2TF002]
\treturn np.wrong  # np2tf: ignore[NP2TF002, NP2TF003]  # noqa


class C: y = np.wrong; z = \\
    np.wrong  # np2tf: ignore[NP2TF002]"""


@pytest.mark.parametrize(
    ("encoding", "end"),
    [
        ("utf-8", "\n"),
        ("utf-8", "\r\n"),
        ("utf-8", "\r"),
        ("utf-8-sig", "\n"),
        ("utf-8-sig", "\r\n"),
        ("latin-1", "\n"),
        ("latin-1", "\r\n"),
    ],
)
def test_add_ignore(end: str, encoding: str, tmp_path: Path) -> None:
    """One comment behind each statement, codes into comments that are there, all else byte for byte."""
    before, after = (text.replace("\n", end) for text in (MANY, ADDED))
    if encoding == "latin-1":
        head = f"# -*- coding: latin-1 -*-{end}# é{end}"
        before, after = head + before, head + after
    path = tmp_path / "a.py"
    path.write_bytes(before.encode(encoding))
    path.chmod(0o751)
    result = CliRunner().invoke(command, ["check", "--add-ignore", "--ignore", "NP2TF911", str(tmp_path)])
    assert result.exit_code == 0
    assert result.stderr.startswith("Suppressed 8 findings in 1 file.\n")
    assert path.read_bytes().decode(encoding) == after
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert check(tmp_path, "--ignore", "NP2TF911").stdout == ""
    assert "hides nothing" in check(tmp_path).stdout


def test_add_ignore_takes_what_is_shown(tmp_path: Path) -> None:
    """Neither what is not selected, nor what a baseline knows, nor what is said about suppressions, nor
    errors."""
    text = "import numpy as np\nnp.wrong\nnp.bool = 1\nx = 1  # np2tf: ignore[NP2TF401]\n"
    assert [found.split()[1] for found in told(tmp_path, text)] == ["NP2TF002", "NP2TF006", "NP2TF911"]
    assert check("--add-ignore", "--ignore", "NP2TF002", tmp_path).exit_code == 1
    path = tmp_path / "a.py"
    assert path.read_text() == text.replace("np.bool = 1", "np.bool = 1  # np2tf: ignore[NP2TF006]")
    check("--write-baseline", tmp_path / "known.json", tmp_path)
    before = path.read_text()
    check("--add-ignore", "--baseline", tmp_path / "known.json", tmp_path)
    assert path.read_text() == before
    (tmp_path / "bad.py").write_text("def f(:\n")
    assert check("--add-ignore", tmp_path / "bad.py").exit_code == 1
    assert (tmp_path / "bad.py").read_text() == "def f(:\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # np2tf: ignore\n", "x = 1\n"),
        ("x = 1\t# np2tf: ignore", "x = 1"),
        ("x = 1 # np2tf: ignore[NP2TF002] since 2 is wrong\ny\n", "x = 1\ny\n"),
        ("if x:\n    # np2tf: ignore\n    y\n", "if x:\n    y\n"),
        ("x\r\n# np2tf: ignore\r\ny\r\n", "x\r\ny\r\n"),
        ("x  # noqa: F821  # np2tf: ignore[NP2TF002]\n", "x  # noqa: F821\n"),
        ("x  # np2tf: ignore[NP2TF002]  # noqa\n", "x  # noqa\n"),
        (
            "np.wrong  # np2tf: ignore[NP2TF002, NP2TF401, NP2TF002] why\n",
            "np.wrong  # np2tf: ignore[NP2TF002] why\n",
        ),
        ("np.wrong  # np2tf: ignore[NP2TF401,NP2TF002]\n", "np.wrong  # np2tf: ignore[NP2TF002]\n"),
        ("# np2tf: file-ignore[NP2TF002]\nx\n", "x\n"),
        ("# np2tf: file-ignore[NP2TF002]\nnp.wrong\n", "# np2tf: file-ignore[NP2TF002]\nnp.wrong\n"),
        # what cannot be read, or names what there is not, is the reader's affair
        ("x  # np2tf: ignore[E501]\n", "x  # np2tf: ignore[E501]\n"),
        ("x  # np2tf: ignore NP2TF002\n", "x  # np2tf: ignore NP2TF002\n"),
        ("x  # np2tf: ignore[NP2TF002, NP2TF911]\n", "x  # np2tf: ignore[NP2TF002, NP2TF911]\n"),
        ("s = '# np2tf: ignore'\n", "s = '# np2tf: ignore'\n"),
    ],
)
def test_fix_ignores(before: str, after: str, tmp_path: Path) -> None:
    """The command removes the suppressions that hide nothing, and changes nothing else."""
    head = "\ufeffimport numpy as np\n"
    path = tmp_path / "a.py"
    path.write_bytes((head + before).encode())
    result = CliRunner().invoke(command, ["check", "--fix-ignores", str(tmp_path)])
    assert path.read_bytes().decode() == head + after
    count = before != after
    assert f"Removed {1 if count else 0} suppression" in result.stderr
    assert "NP2TF911" not in result.stdout
    assert check("--fix-ignores", tmp_path).exit_code == check(tmp_path).exit_code
    assert path.read_bytes().decode() == head + after


def test_a_file_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is told, with what is still found in it."""

    def fails(path: Path, data: bytes) -> None:
        raise PermissionError(13, "Permission denied")

    text = "import numpy as np\nnp.wrong\n"
    (tmp_path / "a.py").write_text(text)
    monkeypatch.setattr("np2tf.cli.check.edits.write", fails)
    result = check("--add-ignore", tmp_path)
    assert result.exit_code == 1
    assert "NP2TF002" in result.stdout
    assert "a.py:1:1: NP2TF906 the file cannot be read or written: Permission denied" in result.stdout
    assert (tmp_path / "a.py").read_text() == text


def test_a_file_that_changes_meanwhile(tmp_path: Path) -> None:
    """The command keeps an edit that somebody makes between its reading and its writing. It writes no comment
    that would change the program.
    """
    path = tmp_path / "a.py"
    path.write_text("import numpy as np\nnp.wrong  # mine\n")
    with pytest.raises(ValueError, match="it has changed in the meantime"):
        rewrite(path, "import numpy as np\nnp.wrong\n", "import numpy as np\nnp.wrong  # np2tf: ignore\n")
    with pytest.raises(ValueError, match="no place for a comment"):
        rewrite(path, path.read_text(), "import numpy as np  # np.wrong\n")
    assert path.read_text() == "import numpy as np\nnp.wrong  # mine\n"


def test_an_encoding_with_two_spellings_of_a_text(tmp_path: Path) -> None:
    """A file whose bytes would not come out as they were is left alone, and told."""
    head = b"# -*- coding: iso2022_jp -*-\nimport numpy as np\n"
    data = head + b"s = '\x1b$B\x1b$BF|\x1b(B'\nnp.wrong\n"
    assert data.decode("iso2022_jp").encode("iso2022_jp") != data
    (tmp_path / "a.py").write_bytes(data)
    result = check("--add-ignore", tmp_path)
    assert result.exit_code == 1
    assert "a.py:1:1: NP2TF904" in result.stdout
    assert (tmp_path / "a.py").read_bytes() == data


STATEMENTS = st.sampled_from(
    [
        "np.wrong",
        "x = (np.wrong,\n     np.wrong2)",
        "x = np.wrong + \\\n    1",
        "s = '''\n# np2tf: ignore\n'''",
        "if x: np.wrong",
        "def f(x=np.wrong):\n    np.wrong\n    return x",
        "@np.wrong\ndef g(): pass",
        "# np2tf: ignore\nnp.wrong",
        "np.wrong  # np2tf: ignore[NP2TF002]",
        "np.wrong  # np2tf: ignore[NP2TF003]  # noqa",
        "y = 1  # np2tf: ignore[NP2TF401, NP2TF401]",
        "# np2tf: file-ignore[NP2TF003]",
        "y = 1; np.wrong; z = [\n]",
        "s = '\x0c \u2028'",
        "",
    ]
)


@given(st.lists(STATEMENTS, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans())
@settings(deadline=None, max_examples=60)
def test_edits_of_any_program(parts: list[str], end: str, is_ended: bool) -> None:
    """After `--add-ignore` nothing is found, after `--fix-ignores` nothing is unused, and the program is the
    same."""
    text = ("import numpy as np\n" + "\n".join(parts) + "\n" * is_ended).replace("\n", end)

    def checked(source: str) -> CheckedFile:
        result = convert(source)
        return CheckedFile(Path("a.py"), source, findings=[*result.diagnostics, *result.suppressed_findings])

    shown = judge(checked(text), lambda code: code != "NP2TF911").visible_findings
    added, count = with_suppressions(text, shown)
    assert count == len(shown)
    judged = judge(checked(added), lambda code: True)
    assert {found.code for found in judged.visible_findings} <= {"NP2TF911"}
    cleaned = without(added, judged.unused_suppressions)
    assert judge(checked(cleaned), lambda code: True).visible_findings == []
    assert ast.dump(ast.parse(cleaned)) == ast.dump(ast.parse(text))
    assert _without_comments(cleaned) == _without_comments(text)


def _without_comments(text: str) -> list[str]:
    """The tokens of a program that are no comments, and no empty lines."""
    lines = io.StringIO(text, newline="")  # splitlines() would also end lines at form feeds
    skipped = (tokenize.COMMENT, tokenize.NL)
    return [token.string for token in tokenize.generate_tokens(lines.readline) if token.type not in skipped]


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_and_files_named_twice(tmp_path: Path) -> None:
    """A file that is given twice is read and edited once; a link stays a link."""
    path = tmp_path / "a.py"
    path.write_text("import numpy as np\nnp.wrong\n")
    (tmp_path / "link.py").symlink_to(path)
    result = check("--add-ignore", tmp_path, path, tmp_path / "link.py")
    assert result.exit_code == 0
    assert path.read_text() == "import numpy as np\nnp.wrong  # np2tf: ignore[NP2TF002]\n"
    assert (tmp_path / "link.py").is_symlink()
