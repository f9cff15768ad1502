"""`np2tf report`: the survey, the page as HTML and in an installed browser, and Markdown."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from np2tf.cli.report import page as charts
from np2tf.cli.report import tables
from np2tf.cli.report.markdown import code, escape, message
from np2tf.cli.report.page import edits, embed_json, lines_of, page
from np2tf.cli.report.runs import CommandError, program_of, run_of
from np2tf.cli.report.survey import FileSurvey, Survey, top_level_names
from tests.helpers.reported_repository import NASTY, RAN, report

VOID = {"meta", "input", "wbr", "rect", "circle"}


class Reader(HTMLParser):
    """Reads a page strictly: what it is made of, and what is wrong with it."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.scripts: list[str] = []
        self.text: list[str] = []
        self.wrong: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1] != "style":
            self.text.append(data)


def test_the_page_is_well_formed_and_needs_nothing_else(made: str) -> None:
    read = Reader(made)
    assert read.wrong == []
    assert read.open == []
    assert len(read.scripts) == 2
    for tag, name, value in read.attributes:
        assert name not in ("src", "srcset", "action", "onclick", "onerror", "data"), (tag, name, value)
        assert name != "href" or value.startswith("#"), value
    style = made.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    assert ("meta", "http-equiv", "Content-Security-Policy") in read.attributes


def test_sources_and_translations_arrive_as_they_are(made: str) -> None:
    data = json.loads(Reader(made).scripts[0])
    file = data["files"]['a & b/<i>"x".py']
    assert file["lines"] == NASTY.splitlines()
    after = list(file["lines"])
    for first, behind, new in reversed(file["edits"]):
        after[first:behind] = new
    from np2tf import convert

    assert after == convert(NASTY).text.splitlines()
    assert [finding["code"] for finding in file["findings"]] == ["NP2TF002"]
    assert [(fate["name"], fate["fate"]) for fate in file["fates"]] == [("relax", "compiled")]
    assert data["files"]["broken.py"]["lines"] == ["def (:"]
    assert [finding["severity"] for finding in data["files"]["odd.py"]["findings"]] == ["error"]


def test_what_is_shown_without_a_script(made: str) -> None:
    text = " ".join(" ".join(Reader(made).text).split())
    assert "a <b> & c" in text
    assert 'a & b/ <i>"x".py' in text  # the line may be broken behind the folder
    assert "100 % compiled" in text
    assert "np.wrong" in text
    assert "not known" in text


def test_embedded_json_cannot_end_a_script() -> None:
    value = {"</script>": ["<!--", "]]>", "&amp;", "\u2028\u2029", "'\"\\", "\ud800"]}
    text = str(embed_json(value))
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {**value, "</script>": [*value["</script>"][:-1], "?"]}


def test_edits_make_the_translation() -> None:
    before, after = list("abcdef"), list("axcdfgh")
    made = list(before)
    for first, behind, new in reversed(edits(before, after)):
        made[first:behind] = new
    assert made == after
    assert edits(before, before) == []
    assert lines_of("a\r\nb\rc\n\x0cd") == ["a", "b", "c", "\x0cd"]
    assert lines_of("") == []


def test_charts_hold_their_shares() -> None:
    bar = str(charts.bar({"staged": 1, "called": 0, "host": 3}, label='"<'))
    assert re.findall(r'class="(\w+)" x="([\d.]+)" y="0" width="([\d.]+)"', bar) == [
        ("staged", "0.000", "25.000"),
        ("host", "25.000", "75.000"),
    ]
    assert 'aria-label="&#34;&lt;"' in bar
    ring = str(charts.ring({"staged": 1, "host": 3}, "25 %", "compiled"))
    lengths = [float(length) for length in re.findall(r'stroke-dasharray="([\d.]+)', ring)]
    assert lengths[1] / lengths[0] == pytest.approx(3, rel=0.05)
    assert "<rect" not in str(charts.bar({}))
    assert 'class="none"' in str(charts.ring({}, "–", ""))


def test_names_and_their_support(repository: Path) -> None:
    from collections import Counter

    uses = Counter(
        {"numpy.sin": 3, "numpy.random.normal": 2, "numpy.load": 1, "numpy.testing": 1, "numpy.x": 1}
    )
    rows = {row.name: row.kind for row in tables.names(Survey([FileSurvey("a.py", "", "", names=uses)]))}
    assert rows == {
        "np.sin": "native",
        "np.random.normal": "drawn",
        "np.load": "host",
        "np.testing": "kept",
        "np.x": "unknown",
    }


def test_markdown(repository: Path) -> None:
    done = report(repository, "--markdown", "--title", "a|b <c>")
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert lines[0] == "## np2tf: a\\|b \\<c\\>"
    assert "**100 %** of 1 function over arrays" in done.output
    assert "| NP2TF002 | 2 | NumPy has no public name `np.wrong`" in done.output
    for block in re.findall(r"(?:^\|.*\n)+", done.output, re.MULTILINE):
        columns = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(columns) == 1, block


def test_markdown_escapes() -> None:
    assert escape("a*b_c\n[d]") == "a\\*b\\_c \\[d\\]"
    assert code("a`b|c") == "`` a`b\\|c ``"
    assert message("`f` is *not* jitted") == "`f` is \\*not\\* jitted"


def test_paths_are_relative_to_the_folder_that_holds_all(tmp_path: Path) -> None:
    for name in ("top/one/a.py", "top/two/b.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("import numpy as np\n\nx = np.sin(1)\n")
    done = report(tmp_path / "top/one", tmp_path / "top/two/b.py")
    assert done.output.startswith("## np2tf: top\n")
    assert [line.split("|")[1].strip() for line in done.output.splitlines() if line.startswith("| `")] == [
        "`one`",
        "`two`",
    ]


def test_places_of_callees_are_relative_too(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "import numpy as np\n\nfrom b import told\n\n\ndef f(x):\n    for _ in range(3):\n"
        "        x = np.sin(x) + told(x)\n    return x\n"
    )
    (tmp_path / "b.py").write_text("import numpy as np\n\n\ndef told(x):\n    return np.sin(input())\n")
    done = report(tmp_path, "--markdown")
    assert "`told` (b.py:4)" in done.output
    assert str(tmp_path) not in done.output


def test_wrong_usage(tmp_path: Path) -> None:
    assert report(tmp_path).exit_code == 2  # no Python
    (tmp_path / "a.py").write_text("x = 1\n")
    assert report(tmp_path, "--run", "make test").exit_code == 2
    assert report(tmp_path, "--html", tmp_path / "none" / "r.html").exit_code == 2


def test_commands_that_are_run() -> None:
    tests = program_of("pytest -q 'a b'", ["pkg"])
    assert tests[:2] == ["--exclude", "pytest"]
    assert tests[tests.index("--np2tf") + 1] == "pkg"
    assert tests[-2:] == ["-q", "a b"]
    assert program_of("python3 -m pytest --np2tf other", ["pkg"]).count("--np2tf") == 1
    assert program_of("python3.12 -m pkg 1", []) == ["-m", "pkg", "1"]
    assert program_of("python a.py --x", []) == ["a.py", "--x"]
    for wrong in ("", "python", "python -c 1", "make", "'"):
        with pytest.raises(CommandError):
            program_of(wrong, [])


def test_top_level_names(tmp_path: Path) -> None:
    inner = tmp_path / "src" / "pkg" / "inner"
    inner.mkdir(parents=True)
    files = [
        tmp_path / "one.py",
        tmp_path / "not-a-name.py",
        inner.parent / "__init__.py",
        inner / "__init__.py",
    ]
    for file in files:
        file.write_text("")
    assert list(top_level_names(files)) == ["one", "pkg"]


def test_a_run_is_shown() -> None:
    run = run_of("pytest <x>", 1, RAN, "/here")
    assert run.functions[0].place == "a/rather/long/name/of/a/folder/a.py:3"
    assert run.functions[0].ratio == pytest.approx(10)
    text = page(Survey([]), "t", "now", "0", run)
    read = Reader(text)
    assert read.wrong == []
    shown = " ".join("".join(read.text).split())
    assert "pytest <x> took 3.00 s and ended with status 1." in shown
    assert "10.0×" in shown
    assert "NP2TF520: x <y>" in shown
    assert "25 % a.py:7 f: loop: calls <g>" in shown
    assert "np2tf spent 1.50 s on compiling, and saved 2.00 s by estimation" in shown
    assert sum(part.seconds for part in run.parts) == pytest.approx(run.seconds)


@pytest.mark.slow
def test_a_program_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text(NASTY)
    test = (
        "import numpy as np\nfrom pkg import relax\n\n\ndef test_relax():\n    relax(np.ones(3) * 9, 0.1)\n"
    )
    (tmp_path / "test_pkg.py").write_text(test)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NP2TF_TIER", "compile")
    done = report("pkg", "--run", "pytest -q -p no:cacheprovider")
    assert done.exit_code == 0, done.output
    assert "(status 0); 1 of 1 jitted function ran as compiled code." in done.output
