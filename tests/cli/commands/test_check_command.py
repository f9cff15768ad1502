"""`np2tf check`: what is shown, what is known, and the exit status."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from np2tf.cli.check.baseline import Baseline
from np2tf.cli.check.formats import FORMATS
from np2tf.cli.main import np2tf as command
from np2tf.core.diagnostics import codes
from tests.helpers.command_runner import CliRunner, Result

ROOT = Path(__file__).resolve().parents[3]
HEAD = "import numpy as np\n"
NOTE = "def f(x):\n    for i in range(9):\n        x = np.sin(x)\n        print(x, file=OUT)\n    return x\n"


def check(*args: object, form: str = "concise") -> Result:
    """Run `np2tf check` in this process."""
    return CliRunner().invoke(command, ["check", "--format", form, *map(str, args)])


def found(*args: object) -> list[str]:
    """The codes that are shown, with their lines."""
    entries = json.loads(check(*args, form="json").stdout)
    return [f"{entry['line']} {entry['code'][5:]}" for entry in entries]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, text: str) -> None:
    """Write a file of the current folder."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


# -- exit statuses


def test_exit_statuses(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """0 without findings and with notes alone, 1 with findings, 2 for wrong usage, 123 for np2tf's faults."""
    write("clean.py", HEAD + "x = np.ones(2)\n")
    write("note.py", HEAD + NOTE)
    write("warning.py", HEAD + "np.wrong\n")
    write("error.py", "def f(:\n")
    assert check("clean.py").exit_code == 0
    assert check("note.py").exit_code == 0
    assert "NP2TF401" in check("note.py").stdout
    assert check("warning.py").exit_code == 1
    assert check("error.py").exit_code == 1
    assert check(".").exit_code == 1
    assert check("--exit-zero", ".").exit_code == 0
    assert check("--exit-zero", "none.py").exit_code == 2
    assert check().exit_code == 2

    def fails(*args: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("np2tf.translator.batch.one_file.translate", fails)
    result = check("--exit-zero", "clean.py")
    assert result.exit_code == 123
    assert "clean.py:1:1: NP2TF905 internal error: KeyError: 'oops'" in result.stdout


def test_standard_input(folder: Path) -> None:
    """Editors check a text that is not saved; its name decides on the configuration, and need not exist."""
    text = (HEAD + "x = np.wrong  # é\n").encode()

    def run(*args: str, data: bytes = text) -> Result:
        return CliRunner().invoke(command, ["check", "-q", "-", *args], input=data)

    lines = run().stdout.splitlines()
    assert lines[0].startswith("<stdin>:2:5: NP2TF002 ")
    assert lines[2] == "2 | x = np.wrong  # é"
    assert run("--stdin-filename", "src/a.py").stdout.startswith("src/a.py:2:5: NP2TF002 ")
    assert (run().exit_code, run("--exit-zero").exit_code) == (1, 0)
    write("np2tf.toml", "per-file-ignores = {'src/*' = ['NP2TF002']}\nextend-exclude = ['old/']\n")
    assert run("--stdin-filename", "src/a.py").stdout == ""
    assert run("--stdin-filename", "old/a.py").exit_code == 1
    assert run("--stdin-filename", "old/a.py", "--force-exclude").exit_code == 0
    assert run(data=b"x = 1  # np2tf: ignore[NP2TF002]\n").stdout.startswith("<stdin>:1:8: NP2TF911 ")
    assert run(data=b"def f(:\n").exit_code == 1
    broken = run("--format", "json", data="# coding: latin-1\nimport numpy\nnumpy.é\n".encode("latin-1"))
    assert json.loads(broken.stdout)[0]["message"].startswith("NumPy has no public name `numpy.é`")
    write("np2tf-baseline.json", f"[\n{HEADER}\n]\n")
    assert run("--baseline", "np2tf-baseline.json").exit_code == 1


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--select", "NP2TF40x", "."), '"NP2TF40x", but no code starts with it'),
        (("--ignore", "E501", "."), '"E501", but no code starts with it'),
        (("--format", "xml", "."), "'xml' is not one of"),
        (("--add-ignore", "--fix-ignores", "."), "--add-ignore and --fix-ignores cannot be used together"),
        (
            ("--add-ignore", "--write-baseline", "b", "."),
            "--write-baseline and --add-ignore cannot be used together",
        ),
        (("--baseline", "none.json", "."), "'none.json' does not exist"),
        (("--jobs", "0", "."), "0 is not in the range"),
        (("--explain", "NP2TF000"), "no such code: NP2TF000"),
        (("-", "."), "`-` cannot be combined with other paths"),
        (("-", "--add-ignore"), "--add-ignore or --fix-ignores"),
        (("--stdin-filename", "a.py", "."), "--stdin-filename needs `-`"),
    ],
)
def test_wrong_usage(args: tuple[str, ...], told: str, folder: Path) -> None:
    """Status 2, with a word on what is wrong; nothing is written."""
    result = CliRunner().invoke(command, ["check", *args])
    assert result.exit_code == 2
    assert told in result.stderr
    assert list(folder.iterdir()) == []


# -- selecting and counting


def test_select_and_ignore(folder: Path) -> None:
    """The options take prefixes of codes: the longest prefix decides, and of equal prefixes that of
    `--ignore`. Errors are always shown.
    """
    write("a.py", HEAD + "np.wrong\nnp.bool = 1\n" + NOTE)
    assert found(".") == ["2 002", "3 006", "7 401"]
    assert found("--select", "NP2TF0", ".") == ["2 002", "3 006"]
    assert found("--select", "np2tf002,NP2TF4", ".") == ["2 002", "7 401"]
    assert found("--select", "NP2TF002", "--select", "NP2TF4", ".") == ["2 002", "7 401"]
    assert found("--ignore", "NP2TF0", ".") == ["7 401"]
    assert found("--ignore", "NP2TF0", "--select", "NP2TF002", ".") == ["2 002"]
    assert found("--ignore", "NP2TF002", "--select", "NP2TF0", ".") == ["3 006"]
    assert found("--ignore", "NP2TF0", "--select", "NP2TF0", ".") == []
    assert found("--ignore", "ALL", "--select", "NP2TF4", ".") == ["7 401"]
    assert found("--select", "ALL", "--ignore", "NP2TF4", ".") == ["2 002", "3 006"]
    assert check("--ignore", "NP2TF0", ".").exit_code == 0
    write("bad.py", "def f(:\n")
    assert found("--ignore", "ALL", ".") == ["1 901"]


def test_configuration(folder: Path) -> None:
    """A file's configuration applies to the file, and the command line goes before it; excluded files are not
    read. A baseline's entries of codes that a file's configuration ignores are not stale.
    """
    write("pkg/a.py", HEAD + "np.wrong\n" + NOTE)
    write("pkg/b.py", HEAD + "np.wrong\n" + NOTE)
    write("pkg/old/c.py", HEAD + "np.wrong\n")
    assert check("--write-baseline", "known.json", "pkg").exit_code == 0
    write(
        "pkg/np2tf.toml",
        'ignore = ["NP2TF4"]\nexclude = ["old"]\n[per-file-ignores]\n"b.py" = ["NP2TF002"]\n',
    )
    assert check("-q", "pkg").stdout.splitlines() == [
        "pkg/a.py:2:1: NP2TF002 NumPy has no public name `np.wrong`; it stays on NumPy"
    ]
    assert found("--select", "NP2TF401", "pkg") == ["6 401", "6 401"]
    assert found("--baseline", "known.json", "pkg") == []
    write("pkg/b.py", HEAD + "x = 1  # np2tf: ignore[NP2TF002]\n")
    assert found("pkg/b.py") == []
    assert found("pkg/old/c.py") == ["2 002"]
    assert found("--force-exclude", "pkg/old/c.py") == []
    write("pkg/np2tf.toml", "ignor = []\n")
    result = check("pkg")
    assert result.exit_code == 2
    assert "did you mean" in result.stderr


def test_what_the_translator_is_told(folder: Path) -> None:
    """Where nothing is jitted, nothing is said about what cannot be."""
    write("a.py", HEAD + NOTE)
    assert found("a.py") == ["5 401"]
    write("np2tf.toml", "jit = false\n")
    assert found("a.py") == []


def test_statistics(folder: Path) -> None:
    """How often each code was found, the most frequent first; as text and as JSON."""
    write("a.py", HEAD + "np.wrong\nnp.bool = 1\nnp.wrong2\n" + NOTE)
    result = check("--statistics", "-q", ".")
    assert result.exit_code == 1
    assert result.stdout == (
        "2  NP2TF002  NumPy has no public name `…`; it stays on NumPy\n"
        "1  NP2TF006  `…` is assigned to; the assignment stays on NumPy\n"
        "1  NP2TF401  `…` is not jitted: it …\n"
    )
    entries = json.loads(check("--statistics", ".", form="json").stdout)
    assert [(entry["code"], entry["count"], entry["severity"]) for entry in entries] == [
        ("NP2TF002", 2, "warning"),
        ("NP2TF006", 1, "warning"),
        ("NP2TF401", 1, "note"),
    ]
    write("a.py", "x = 1\n")
    assert check("--statistics", "-q", ".").stdout == ""


def test_explain(folder: Path) -> None:
    """`--explain` is the command of that name, and needs no path."""
    result = CliRunner().invoke(command, ["check", "--explain", "NP2TF911"])
    assert result.exit_code == 0
    assert result.stdout.startswith("NP2TF911 (warning)\n")
    assert codes()["NP2TF911"].remedy in result.stdout


def test_what_would_change_is_no_finding(folder: Path) -> None:
    """It is told, unless `-q` asks for findings only."""
    write("a.py", HEAD + "x = np.ones(2)\n")
    assert check(".").stdout == "a.py: would change\n"
    assert check(".").stderr == "1 file would change, 0 unchanged\n"
    quiet = check("-q", ".")
    assert (quiet.stdout, quiet.stderr, quiet.exit_code) == ("", "", 0)


def test_a_file_named_twice_is_read_once(folder: Path) -> None:
    """Also where it is in a folder that is named."""
    write("pkg/a.py", HEAD + "np.wrong\n")
    assert found("pkg/a.py", "pkg", "pkg/../pkg/a.py") == ["2 002"]


# -- processes


def test_jobs_give_the_same(folder: Path) -> None:
    """Findings do not depend on how many processes read the files, nor do findings that other files cause."""
    write("pkg/__init__.py", "")
    write("pkg/other.py", "def act(x):\n    print(x, file=OUT)\n    return x\n")
    for number in range(12):
        call = "from .other import act\n" + NOTE.replace("print(x, file=OUT)", "x = act(x)")
        write(f"pkg/m{number}.py", HEAD + (call if number % 3 else "np.wrong\n" + NOTE))
    write("pkg/bad.py", "def f(:\n")
    run = [sys.executable, str(ROOT / "cli.py"), "check", "-v", "pkg"]
    outputs = []
    for jobs in ("1", "2", "5"):
        done = subprocess.run(
            [*run, "--jobs", jobs], capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 1, done.stderr
        outputs.append((done.stdout, done.stderr))
    assert outputs[0] == outputs[1] == outputs[2]
    assert outputs[0][0].count("NP2TF402") == 8
    assert outputs[0][0].count("NP2TF002") == 4


def test_output_for_a_narrow_encoding(folder: Path) -> None:
    """Characters that the terminal's encoding does not have are spelled, and do not stop the command."""
    write("a.py", HEAD + "日本 = np.wrong\n")
    run = [sys.executable, str(ROOT / "cli.py"), "check", "a.py"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(run, capture_output=True, env=environment, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    assert b"2 | \\u65e5\\u672c = np.wrong" in done.stdout


# -- baselines


def baseline(path: str = "known.json") -> list[dict[str, object]]:
    """The entries of a baseline."""
    header, *entries = json.loads(Path(path).read_text())
    assert header == {"np2tf": "baseline", "version": 1}
    return entries


def test_a_baseline_hides_what_is_known(folder: Path) -> None:
    """All kinds of findings, also in files that do not parse; what is new is shown, and counts."""
    write("pkg/a.py", HEAD + "np.wrong\nnp.wrong\n" + NOTE)
    write("pkg/bad.py", "def f(:\n")
    result = check("--write-baseline", "known.json", "pkg")
    assert result.exit_code == 0
    assert result.stdout == "pkg/a.py: would change\n"
    assert "known.json lists 4 findings." in result.stderr
    counts = [(entry["path"], entry["code"], entry["count"]) for entry in baseline()]
    assert counts == [("pkg/a.py", "NP2TF002", 2), ("pkg/a.py", "NP2TF401", 1), ("pkg/bad.py", "NP2TF901", 1)]
    result = check("--baseline", "known.json", "pkg")
    assert (result.exit_code, result.stdout) == (0, "pkg/a.py: would change\n")
    assert result.stderr.endswith("1 failed, 0 unchanged; 4 more in the baseline\n")
    write("pkg/a.py", HEAD + "np.wrong\nnp.wrong\nnp.wrong\nnp.new\n" + NOTE)
    assert check("--baseline", "known.json", "pkg").exit_code == 1
    assert found("--baseline", "known.json", "pkg") == ["4 002", "5 002"]


def test_a_baseline_knows_findings_that_move(folder: Path) -> None:
    """To other lines, by other indentation, and with the places that messages name."""
    write("pkg/other.py", "def act(x):\n    print(x, file=OUT)\n    return x\n")
    call = "from other import act\n" + NOTE.replace("print(x, file=OUT)", "x = act(x)")
    write("pkg/a.py", HEAD + call + "np.wrong\n")
    assert found("pkg") == ["3 402", "8 002"]
    check("--write-baseline", "known.json", "pkg")
    write("pkg/other.py", "# moved\n\n\ndef act(x):\n    print(x, file=OUT)\n    return x\n")
    write("pkg/a.py", HEAD + "\n\n" + call + "if True:\n    np.wrong\n")
    assert found("pkg") == ["5 402", "11 002"]
    assert found("--baseline", "known.json", "pkg") == []
    write("pkg/a.py", HEAD + call + "np.wrong + 1\n")
    assert found("--baseline", "known.json", "pkg") == ["8 002", "3 914"]


def test_a_baseline_names_files_from_its_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it does not matter where the command runs, nor how the files are named."""
    write("project/pkg/a.py", HEAD + "np.wrong\n")
    monkeypatch.chdir(folder / "project")
    check("--write-baseline", "known.json", "pkg")
    assert [entry["path"] for entry in baseline()] == ["pkg/a.py"]
    monkeypatch.chdir(folder / "project/pkg")
    assert found("--baseline", "../known.json", "a.py") == []
    assert found("--baseline", folder / "project/known.json", folder / "project") == []


def test_stale_entries(folder: Path) -> None:
    """Are findings at their lines of the baseline: of files that were read or are gone, and of codes that
    were looked for."""
    write("pkg/a.py", HEAD + "np.wrong\nnp.wrong\n")
    write("pkg/b.py", HEAD + "np.wrong\n" + NOTE)
    write("pkg/c.py", HEAD + "np.wrong\n")
    check("--write-baseline", "known.json", "pkg")
    write("pkg/a.py", HEAD + "np.wrong\n")
    write("pkg/b.py", "x = 1\n")
    Path("pkg/c.py").unlink()
    result = check("-q", "--baseline", "known.json", "pkg")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "known.json:3:1: NP2TF914 the baseline lists 1 more of NP2TF002 in pkg/a.py than were found: "
        "np.wrong",
        "known.json:4:1: NP2TF914 the baseline lists 1 more of NP2TF002 in pkg/b.py than were found: "
        "np.wrong",
        "known.json:5:1: NP2TF914 the baseline lists 1 more of NP2TF401 in pkg/b.py than were found: "
        "print(x, file=OUT)",
        "known.json:6:1: NP2TF914 the baseline lists 1 more of NP2TF002 in pkg/c.py than were found: "
        "np.wrong",
    ]
    assert found("--baseline", "known.json", "--ignore", "NP2TF914", "pkg") == []
    assert found("--baseline", "known.json", "--ignore", "NP2TF002", "pkg") == ["5 914", "6 914"]
    assert found("--baseline", "known.json", "pkg/a.py") == ["3 914", "6 914"]
    write("pkg/b.py", "def f(:\n")
    assert found("--baseline", "known.json", "pkg/b.py") == ["1 901", "6 914"]
    assert check("--write-baseline", "known.json", "--ignore", "NP2TF9", "pkg").exit_code == 0
    assert found("--baseline", "known.json", "pkg") == []


def test_a_new_baseline_keeps_what_was_not_looked_at(folder: Path) -> None:
    """Entries of other files, of codes that were not selected, and of files that cannot be read just now."""
    write("pkg/a.py", HEAD + "np.wrong\n" + NOTE)
    write("pkg/b.py", HEAD + "np.wrong\n")
    write("pkg/c.py", HEAD + "np.wrong\n")
    check("--write-baseline", "known.json", "pkg")
    before = baseline()
    write("pkg/c.py", "def f(:\n")
    check("--write-baseline", "known.json", "--select", "NP2TF0", "pkg/a.py", "pkg/c.py")
    after = baseline()
    assert [entry for entry in after if entry["code"] != "NP2TF901"] == before
    assert len(after) == len(before) + 1
    write("pkg/a.py", HEAD)
    write("pkg/c.py", HEAD)
    Path("pkg/b.py").unlink()
    check("--write-baseline", "known.json", "pkg")
    assert baseline() == []


def test_what_no_baseline_hides(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Findings about suppressions, and what went wrong in the run itself."""
    write("a.py", "x = 1  # np2tf: ignore\n")
    assert check("--write-baseline", "known.json", ".").exit_code == 1
    assert baseline() == []
    assert found("--baseline", "known.json", ".") == ["1 911"]

    def fails(*args: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("np2tf.translator.batch.one_file.translate", fails)
    assert check("--write-baseline", "known.json", ".").exit_code == 123
    assert baseline() == []


GOOD = '{"path": "a.py", "code": "NP2TF002", "message": "0", "source": "x", "count": 1}'
HEADER = '{"np2tf": "baseline", "version": 1}'


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "it does not begin with `[`"),
        ("{}", 1, "it does not begin with `[`"),
        ("import numpy as np\n", 1, "it does not begin with `[`"),
        ("[]", 1, "Expecting value"),
        ("[\n", 2, "Expecting value"),
        ("[\n{}\n]", 2, "its first entry must be"),
        (f"[\n{HEADER.replace('1', '2')}\n]", 2, "its first entry must be"),
        (f"[\n{HEADER}\n", 3, "`,` or `]` is missing after an entry"),
        (f"[\n{HEADER},\n<<<<<<< HEAD\n{GOOD}\n]", 3, "Expecting value"),
        (f"[\n{HEADER}\n{GOOD}\n]", 3, "`,` or `]` is missing after an entry"),
        (f"[\n{HEADER},\n{GOOD},\n]", 4, "Expecting value"),
        (f"[\n{HEADER},\n{GOOD}\n]\n]\n", 5, "something follows the list"),
        (
            f"[\n{HEADER},\n{GOOD},\n1\n]",
            4,
            "an entry must have the fields path, code, count, message, source",
        ),
        (f"[\n{HEADER},\n{GOOD},\n{{}}\n]", 4, "an entry must have the fields"),
        (f"[\n{HEADER},\n{GOOD.replace('1}', '0}')}\n]", 3, "count must be at least 1"),
        (f"[\n{HEADER},\n{GOOD.replace('1}', 'true}')}\n]", 3, "count must be a whole number"),
        (f"[\n{HEADER},\n{GOOD.replace('1}', '1.0}')}\n]", 3, "count must be a whole number"),
        (f"[\n{HEADER},\n{GOOD.replace(chr(34) + '0' + chr(34), '0')}\n]", 3, "message must be a string"),
        (f"[\n{HEADER},\n{'[' * 100_000}\n]", 3, ""),
        ("[\n\udcff\n]", 2, "it is not UTF-8"),
    ],
)
@pytest.mark.parametrize("option", ["--baseline", "--write-baseline"])
def test_a_file_that_is_no_baseline(option: str, text: str, line: int, reason: str, folder: Path) -> None:
    """Wrong usage, with file and line; it is not overwritten."""
    write("a.py", HEAD + "np.wrong\n")
    data = text.encode("utf-8", "surrogateescape")
    Path("known.json").write_bytes(data)
    result = check(option, "known.json", "a.py")
    assert result.exit_code == 2
    assert f"Error: known.json:{line}: not a baseline: {reason}" in result.stderr
    assert Path("known.json").read_bytes() == data


def test_a_baseline_written_in_another_way(folder: Path) -> None:
    """A baseline may have another format, entries twice, and a mark of the byte order."""
    write("a.py", HEAD + "np.wrong\nnp.wrong\n")
    check("--write-baseline", "known.json", "a.py")
    (entry,) = baseline()
    twice = [{"np2tf": "baseline", "version": 1}, {**entry, "count": 1}, {**entry, "count": 1}]
    Path("known.json").write_text("\ufeff" + json.dumps(twice, indent=4).replace("\n", "\r\n"), "utf-8")
    assert found("--baseline", "known.json", "a.py") == []
    assert list(Baseline.read(Path("known.json")).counts.values()) == [2]


def test_a_baseline_that_cannot_be_written(folder: Path) -> None:
    """Is a finding with a code, and the findings that it was to know are shown."""
    write("a.py", HEAD + "np.wrong\n")
    result = check("--write-baseline", "none/known.json", "a.py")
    assert result.exit_code == 1
    assert "known.json:1:1: NP2TF906 the file cannot be read or written" in result.stdout
    assert "NP2TF002" in result.stdout


# -- documents


def documented() -> list[str]:
    """The commands that the page shows."""
    blocks = (ROOT / "docs/check.md").read_text(encoding="utf-8").split("```sh\n")[1:]
    return [line for block in blocks for line in block.split("```")[0].splitlines()]


def test_the_page_shows_commands_that_work(folder: Path) -> None:
    """In the order of the page, for a project with a finding; the page's own program has none."""
    write("src/model.py", HEAD + NOTE + "np.wrong\nnp.product\n")
    lines = [line for line in documented() if "suppressed.py" not in line]
    for line in lines:
        words, _, file = line.removeprefix("np2tf ").partition(" > ")
        result = CliRunner().invoke(command, words.split())
        shown = not {"--exit-zero", "--write-baseline", "--baseline"} & set(words.split())
        assert result.exit_code == shown, line
        assert bool(result.stdout) or file, line
    assert len(lines) == 9


def test_the_page_lists_every_option_and_format() -> None:
    """No option is left out of the tables, and none is invented."""
    page = (ROOT / "docs/check.md").read_text(encoding="utf-8")
    options = {
        option
        for parameter in command.get_command(None, "check").params  # type: ignore[arg-type, union-attr]
        for option in parameter.opts
        if option.startswith("--") and option not in ("--quiet", "--verbose", "--respect-gitignore")
    }
    assert {option for option in options if f"`{option}" not in page and f" {option} " not in page} == set()
    assert set(FORMATS) <= set(re.findall(r"`(\w+)`", page))


def test_the_suppressions_of_the_page_hide_what_it_says(folder: Path) -> None:
    """The program of the page has nothing left to say."""
    page = (ROOT / "docs/check.md").read_text(encoding="utf-8")
    program = page.split('```python title="suppressed.py"\n')[1].split("```")[0]
    write("a.py", program)
    assert found("a.py") == []
    write("a.py", re.sub("#.*", "", program))
    assert found("a.py") == ["4 002", "4 002", "8 002"]
