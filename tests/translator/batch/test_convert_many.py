"""`np2tf convert` of many files: processes, workers that fail, and what is known to stay as it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from np2tf.cli.main import np2tf as command
from np2tf.translator.batch import batch, workers
from np2tf.translator.batch.batch import Task, TaskResult, UnchangedFiles, run_tasks
from np2tf.translator.sources.options import Options
from tests.helpers.command_runner import CliRunner, Result

ROOT = Path(__file__).resolve().parents[3]
SOURCE = "import numpy as np\n\nx = np.ones(2)\n"
#: Stays as it is, with a finding.
PLAIN = "import numpy as np\n\nx = np.no_such_name\n"


def np2tf(*args: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(command, [str(arg) for arg in args])


# -- workers ------------------------------------------------------------------------------------------------


def square(number: int) -> int:
    """Square a number as a worker: die on 7, fail on 8, be slow on 0."""
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 8:
        raise KeyError("eight")
    if number == 0:
        time.sleep(0.3)
    return number * number


def told(number: int, error: BaseException) -> int:
    """Return the number that stands for a failure."""
    return {"ChildProcessError": -7, "KeyError": -8}[type(error).__name__]


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_results_come_in_order(jobs: int) -> None:
    """Results come in the order of the tasks, however long a task takes; a failure has its task's place."""
    numbers = [0, 1, 8, 2, 3, *range(10, 40)]
    wanted = [-8 if number == 8 else number * number for number in numbers]
    assert list(workers.in_order(square, told, numbers, jobs)) == wanted


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_worker_that_dies_takes_one_task_with_it(capfd: pytest.CaptureFixture[str]) -> None:
    """A dying worker loses its own task only: the tasks under way and the later tasks are done."""
    numbers = [0, 1, 2, 7, 3, 0, *range(10, 20), 7, 8, *range(30, 40)]
    wanted = [{7: -7, 8: -8}.get(number, number * number) for number in numbers]
    assert list(workers.in_order(square, told, numbers, 2)) == wanted


def test_tasks_are_taken_as_workers_become_free() -> None:
    """Not all at once: they may be large."""
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    results = workers.in_order(square, told, filter(lambda number: number not in (7, 8), numbers()), 2)
    assert next(results) == 0
    assert len(taken) < 20
    results.close()


def test_no_tasks() -> None:
    assert list(workers.in_order(square, told, [], 2)) == []


def _children(parent: int) -> list[int]:
    """Return the processes below a process, as Linux tells them."""
    found = []
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *_children(child)]
    return found


def _is_alive(process: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


#: So many that they are not done before a test gets its turn on a busy machine.
FILES = 200


def _begun(folder: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A command that has much to do on two workers, and all its processes."""
    loop = "def f{k}(x):\n    while np.sum(x) > 1:\n        x = x / 2 + np.sin(x)\n    return x\n\n\n"
    text = "import numpy as np\n\n\n" + "".join(loop.format(k=k) for k in range(60))
    (folder / "0.py").write_text(SOURCE)
    for number in range(1, FILES):
        (folder / f"{number}.py").write_text(text)
    words = [sys.executable, str(ROOT / "cli.py"), "convert", "--check", "-q", "-j2", str(folder)]
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        start_new_session=True,
        # Tests that run in the background of a shell have it ignored, and pass that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    process.stdout.readline()  # the first file is done
    started = _children(process.pid)
    assert len(started) >= 3  # the process that forks, and two workers
    return process, started


def _all_end(processes: list[int]) -> bool:
    deadline = time.monotonic() + 30
    while any(map(_is_alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(_is_alive, processes))


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found in /proc")


@linux
def test_workers_end_with_the_command(tmp_path: Path) -> None:
    """A kill of the command leaves no process behind."""
    process, started = _begun(tmp_path)
    process.kill()
    process.communicate(timeout=60)
    assert _all_end(started)


@linux
def test_ctrl_c(tmp_path: Path) -> None:
    """Ctrl-C ends the command and its workers, with one word and no traceback."""
    process, started = _begun(tmp_path)
    os.killpg(process.pid, signal.SIGINT)
    told, problems = process.communicate(timeout=60)
    assert (process.returncode, problems.split()) == (1, ["Aborted!"])
    assert len(told.splitlines()) < FILES - 1
    assert _all_end(started)


@linux
def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    """`np2tf convert … | head` ends quietly, long before all is done."""
    process, started = _begun(tmp_path)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(60) == 1  # which is click's status for it
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert _all_end(started)


def test_processes_say_what_one_says(tmp_path: Path) -> None:
    """Output, findings and statuses are the same, in the same order."""
    for number in range(6):
        (tmp_path / f"a{number}.py").write_text(SOURCE.replace("2", str(number)))
        (tmp_path / f"b{number}.py").write_text(PLAIN)
    (tmp_path / "bad.py").write_text("import numpy\nx = (\n")
    alone, two = np2tf("convert", tmp_path, "-j1"), np2tf("convert", tmp_path, "-j2")
    assert (alone.exit_code, alone.stdout, alone.stderr) == (two.exit_code, two.stdout, two.stderr)
    assert alone.stdout.count("+x = tnp.ones") == 6
    assert alone.stderr.count("NP2TF002") == 6
    assert np2tf("convert", tmp_path, "-j2", "--write").exit_code == 1  # bad.py
    assert (tmp_path / "a3.py").read_text() == "from np2tf import tnp\n\nx = tnp.ones(3)\n"


def dying(tasks: Sequence[Task]) -> list[TaskResult]:
    """`run_tasks`, and death on one file."""
    if tasks[0].path.name == "b.py":
        os.kill(os.getpid(), signal.SIGKILL)
    return run_tasks(tasks)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_worker_that_dies_is_an_internal_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command exits with status 123, names the file, and writes the other files."""
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text(SOURCE)
    monkeypatch.setattr(batch, "run_tasks", dying)
    result = np2tf("convert", "--write", "-j2", tmp_path)
    assert result.exit_code == 123
    assert f"{tmp_path / 'b.py'}:1:1: NP2TF905 internal error: ChildProcessError" in result.stderr
    texts = [(tmp_path / name).read_text() for name in ("a.py", "b.py", "c.py")]
    assert [text == SOURCE for text in texts] == [False, True, False]


# -- what stays as it is ------------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of this test's own."""
    monkeypatch.setenv("NP2TF_CACHE", "on")
    monkeypatch.setenv("NP2TF_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are really translated."""
    names: list[str] = []

    def counting(tasks: Sequence[Task]) -> list[TaskResult]:
        names.extend(task.path.name for task in tasks)
        return run_tasks(tasks)

    monkeypatch.setattr(batch, "run_tasks", counting)
    return names


def test_what_stays_is_not_translated_again(tmp_path: Path, cache: Path, counted: list[str]) -> None:
    """Its findings are told again; what would change, or cannot be read, is looked at each time."""
    project = tmp_path / "p"
    project.mkdir()
    for name, text in {"a.py": SOURCE, "plain.py": PLAIN, "bad.py": "import numpy\nx = (\n"}.items():
        (project / name).write_text(text)
    first = np2tf("convert", project)
    assert counted == ["a.py", "bad.py", "plain.py"]
    counted.clear()
    again = np2tf("convert", project)
    assert counted == ["a.py", "bad.py"]
    assert (first.stdout, first.stderr, first.exit_code) == (again.stdout, again.stderr, again.exit_code)
    counted.clear()
    np2tf("convert", project, "--no-cache")
    assert counted == ["a.py", "bad.py", "plain.py"]
    out = np2tf("convert", project / "plain.py", "--out", tmp_path / "out")
    assert (out.exit_code, (tmp_path / "out/plain.py").read_text()) == (0, PLAIN)


def test_what_it_hangs_on(
    tmp_path: Path, cache: Path, counted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Content, path, options and the translator; not what findings are shown."""
    (tmp_path / "p").mkdir()
    file = tmp_path / "p/plain.py"
    file.write_text(PLAIN)

    def is_translated(*options: str, path: Path = file) -> bool:
        counted.clear()
        np2tf("convert", path, *options)
        return bool(counted)

    assert is_translated()
    assert not is_translated()
    assert not is_translated("--select", "NP2TF4", "--fast")
    assert is_translated("--no-jit")
    assert is_translated("--line-length", "70")
    assert not is_translated("--no-jit")
    os.utime(file, (1e9, 1e9))
    assert not is_translated()
    file.write_text(PLAIN + "y = 1\n")
    os.utime(file, (1e9, 1e9))
    assert is_translated()
    (tmp_path / "p/other.py").write_text(PLAIN)
    assert is_translated(path=tmp_path / "p/other.py")
    monkeypatch.chdir(tmp_path / "p")
    assert not is_translated(path=Path("other.py"))
    from np2tf.core import cache as fingerprint

    monkeypatch.setattr(fingerprint, "fingerprint", lambda: b"another translator")
    assert is_translated()


def test_findings_have_the_path_that_is_given(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain.py").write_text(PLAIN)
    np2tf("convert", tmp_path / "plain.py")
    monkeypatch.chdir(tmp_path)
    assert np2tf("convert", "plain.py").stderr.startswith("plain.py:3:")


def test_damage_is_as_good_as_absence(tmp_path: Path, cache: Path) -> None:
    task = Task(tmp_path / "a.py", tmp_path, PLAIN.encode(), Options())
    known = UnchangedFiles()
    assert known.find(task) is None
    known.keep(task, run_tasks([task])[0])
    kept = UnchangedFiles().find(task)
    assert kept is not None
    assert kept.diagnostics == run_tasks([task])[0].diagnostics
    (entry,) = (cache / "unchanged").iterdir()
    entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    assert UnchangedFiles().find(task) is None
    assert UnchangedFiles(is_used=False).find(task) is None


def test_the_cache_command_knows_it(tmp_path: Path, cache: Path) -> None:
    """`info` counts it, `clear` removes it."""
    from np2tf.core import cache as files

    files.cache.cache_clear()
    files.decisions.cache_clear()
    try:
        (tmp_path / "plain.py").write_text(PLAIN)
        np2tf("convert", tmp_path / "plain.py")
        assert "files known to stay unchanged: 1" in np2tf("cache", "info").output
        assert "1 file removed" in np2tf("cache", "clear").output
        assert "files known to stay unchanged: 0" in np2tf("cache", "info").output
    finally:
        files.cache.cache_clear()
        files.decisions.cache_clear()


def test_nothing_is_loaded_for_what_is_known(tmp_path: Path, cache: Path) -> None:
    """A run over files that stay as they are does not load the translator, and starts no process."""
    for number in range(12):
        (tmp_path / f"{number}.py").write_text(
            PLAIN + "y = 1  # a comment that makes the file longer\n" * 100
        )
    code = (
        "import sys\n"
        "from np2tf.cli.main import main\n"
        f"try: main(['convert', '-q', {str(tmp_path)!r}])\n"
        "except SystemExit as end: print(end.code)\n"
        "print({'libcst', 'rich', 'concurrent.futures.process'} & set(sys.modules) or 'nothing')"
    )

    def run() -> str:
        command = [sys.executable, "-c", code]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout

    run()
    assert run().split() == ["0", "nothing"]


LINKED = {
    "work.py": "import numpy as np\n\nfrom checks import ask\n\n\ndef careful(x):\n    ask(x)\n"
    "    for k in range(9):\n        x[1:-1] = (x[2:] + x[:-2]) / 2\n    return x\n",
    "checks.py": "def ask(x):\n    return input('go on? ')\n",
}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_findings_of_all_files_together(tmp_path: Path, jobs: str) -> None:
    """A jitted function calls a function of another file that cannot be staged: `convert` reports it as
    `check` does.
    """
    for name, text in LINKED.items():
        (tmp_path / name).write_text(text)
    told = []
    for words in (["convert", "--no-cache", "--jobs", jobs], ["check", "--format", "concise"]):
        ran = subprocess.run(
            [sys.executable, str(ROOT / "cli.py"), *words, str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        text = ran.stdout + ran.stderr
        told.append(
            [line for line in text.splitlines() if "NP2TF402" in line and not line.startswith(("+", "-"))]
        )
    assert len(told[0]) == 1
    assert "work.py:6:1" in told[0][0]
    assert "`ask`" in told[0][0]
    assert told[0] == told[1]


def test_workers_begin_to_load_early_only_if_they_will_translate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They load while files are read: not for one process, and not where the cache may know every file."""
    monkeypatch.setenv("NP2TF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NP2TF_CACHE", "on")
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.py").write_text(PLAIN)
    begun: list[None] = []
    monkeypatch.setattr(workers, "preload", lambda: begun.append(None))
    counts = []
    for words in (["-j", 1], ["-j", 2], ["-j", 2], ["-j", 2, "--no-cache"]):
        if words == ["-j", 2] and counts == [0]:
            np2tf("cache", "clear")
            (tmp_path / "cache" / "unchanged").rmdir()
        np2tf("convert", "--check", *words, tmp_path / "files")
        counts.append(len(begun))
    assert counts == [0, 1, 1, 2]
