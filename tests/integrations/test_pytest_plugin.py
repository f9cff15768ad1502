"""``pytest --np2tf``: a package's own tests on its translation, in processes of their own."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from np2tf.integrations.pytest_plugin import summary
from tests.helpers.warm_python import warm_python

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parents[2]

PACKAGE = """
    import math
    import numpy as np

    def compiled(u):
        for i in range(1, len(u)):
            u[i] = np.sin(u[i - 1]) + 1.0
        return u

    def fallen(x):
        y = np.sin(x)
        while np.abs(y).max() > 0.1:
            y = y / 2
        return np.sin(y) + (1.0, 2.0)[math.floor(y[0] * 8)]

    def read(x):
        for i in range(3):
            x = np.sin(x) + float(open("shift").read())
        return x

    ONE = np.ones(1)
    """
TESTS = """
    import numpy as np
    import pytest
    import first_pkg

    def test_is_translated():
        assert first_pkg.__spec__.loader.translated
        assert first_pkg.compiled(np.zeros(3))[1] == 1

    @pytest.mark.parametrize("k", range(3))
    def test_fallen(k):
        assert first_pkg.fallen(np.ones(4)).shape == (4,)
    """


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Two packages and tests; np2tf is installed there as its pyproject.toml says, wherever this runs."""
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    installed = pytester.path / "installed" / "np2tf-0.0.dist-info"
    installed.mkdir(parents=True)
    lines = [f"{name} = {value}" for name, value in entries.items()]
    (installed / "entry_points.txt").write_text("\n".join(["[pytest11]", *lines, ""]))
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: np2tf\nVersion: 0.0\n")
    monkeypatch.setenv("PYTHONPATH", f"{installed.parent}:{ROOT}")
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    monkeypatch.setattr(sys, "executable", warm_python())
    monkeypatch.setenv("NP2TF_TIER", "compile")
    for name in ("NP2TF_JIT", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        monkeypatch.delenv(name, raising=False)
    pytester.mkpydir("first_pkg").joinpath("__init__.py").write_text(_dedent(PACKAGE))
    pytester.mkpydir("second_pkg").joinpath("__init__.py").write_text(
        "import numpy as np\none = np.ones(1)\n"
    )
    # Imports the package before any test does.
    pytester.makeconftest("import first_pkg")
    pytester.makepyfile(test_first=_dedent(TESTS))
    return pytester


def _dedent(text: str) -> str:
    from textwrap import dedent

    return dedent(text)


def numbers(result: pytest.RunResult) -> list[int]:
    """Return the numbers of the summary's line on jitted calls: compiled, graph, on host, not compilable,
    traces.
    """
    line = next(line for line in result.outlines if line.startswith("jitted calls:"))
    return list(map(int, re.findall(r"\d+", line)))


@pytest.fixture
def plain(project: pytest.Pytester) -> pytest.Pytester:
    """A project whose tests need no NumPy and say what is loaded."""
    (project.path / "conftest.py").unlink()
    project.makepyfile(
        test_first="""
        import sys
        def test_loaded():
            ours = sorted(name for name in sys.modules if name.split(".")[0] in
                          ("np2tf", "tensorflow", "numpy", "libcst", "click", "rich"))
            print("loaded:", *ours)
        """
    )
    return project


def test_inert_until_asked(plain: pytest.Pytester):
    result = plain.runpytest_subprocess("-s", "-p", "no:xdist")
    result.assert_outcomes(passed=1)
    (loaded,) = (line for line in result.outlines if "loaded:" in line)
    assert set(loaded.partition("loaded:")[2].split()) == {
        *("np2tf", "np2tf.imports", "np2tf.imports.pytest_plugin"),
        *("np2tf.integrations", "np2tf.integrations.pytest_plugin"),
        *(
            "np2tf.core",
            *(f"np2tf.core.{name}" for name in ("late", "operators", "own_warnings", "settings", "signals")),
        ),
    }
    assert not any("np2tf:" in line or "jitted" in line for line in result.outlines)


def test_np2tfs_own_modules_keep_their_asserts(project: pytest.Pytester):
    """pytest would rewrite hundreds of modules, because they are in a package with a plugin."""
    (project.path / "installed" / "np2tf-0.0.dist-info" / "RECORD").write_text("np2tf/__init__.py,,\n")
    project.makepyfile(
        test_first="""
        import first_pkg
        import np2tf.translator.pipeline
        def test_asserts():
            assert "@pytest_ar" in globals()
            assert "@pytest_ar" not in vars(np2tf.translator.pipeline)
        """
    )
    result = project.runpytest_subprocess("-p", "no:xdist", "--np2tf", "first_pkg")
    result.assert_outcomes(passed=1)


def test_it_can_be_left_out(plain: pytest.Pytester):
    assert plain.runpytest_subprocess("-p", "no:np2tf").ret == 0
    refused = plain.runpytest_subprocess("-p", "no:np2tf", "--np2tf", "first_pkg")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*unrecognized arguments: --np2tf*"])


@pytest.mark.parametrize(
    "options",
    [
        ("-p", "np2tf"),
        ("-p", "np2tf.imports.pytest_plugin"),
        ("-p", "np2tf", "-p", "np2tf.imports.pytest_plugin"),
        ("-p", "no:np2tf", "-p", "np2tf.imports.pytest_plugin"),
    ],
    ids=" ".join,
)
def test_named_in_whatever_way_it_is_registered_once(plain: pytest.Pytester, options: tuple[str, ...]):
    result = plain.runpytest_subprocess(*options, "--trace-config")
    assert result.ret == 0
    registered = [line for line in result.outlines if re.match(r"\s+\S+\s+: <np2tf\.\S+\.Plugin ", line)]
    assert len(registered) == ("no:np2tf" not in options), result.outlines


def test_without_the_entry_point_it_is_named_by_its_module(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    result = project.runpytest_subprocess("-p", "np2tf.imports.pytest_plugin", "--np2tf", "first_pkg")
    result.assert_outcomes(passed=4)
    assert numbers(result)[3] == 3


def test_several_packages_and_the_summary(project: pytest.Pytester):
    project.makepyfile(
        test_second="""
        import second_pkg
        def test_second():
            assert second_pkg.__spec__.loader.translated
        """
    )
    result = project.runpytest_subprocess("--np2tf", "first_pkg", "--np2tf=second_pkg", "-p", "no:xdist")
    result.assert_outcomes(passed=5)
    compiled, graph, on_host, unjitted, traces = numbers(result)
    # The loop of `fallen` runs as compiled code, in one part or more.
    assert (on_host, unjitted) == (3, 3)
    assert compiled + graph >= 4
    assert traces >= 1
    result.stdout.fnmatch_lines(
        [
            "*np2tf: first_pkg, second_pkg translated*",
            "modules translated: first_pkg 1 of 1, second_pkg 1 of 1",
            "jitted calls:*",
            "diagnostics:",
            "  first_pkg/__init__.py:14: NP2TF542 fallen: *×3",
            "  first_pkg/__init__.py:18: NP2TF401 *read* ×1",
        ],
        consecutive=False,
    )


def test_counts_of_workers_are_summed(project: pytest.Pytester):
    pytest.importorskip("xdist")
    result = project.runpytest_subprocess("--np2tf", "first_pkg", "-n2")
    result.assert_outcomes(passed=4)
    compiled, graph, on_host, unjitted, _ = numbers(result)
    # The loop of `fallen` runs as compiled code, in one part or more.
    assert (on_host, unjitted) == (3, 3)
    assert compiled + graph >= 4
    result.stdout.fnmatch_lines(["  first_pkg/__init__.py:14: NP2TF542 fallen: *×3"])
    # A finding in a file is one finding, though each process has met it.
    result.stdout.fnmatch_lines(["  first_pkg/__init__.py:18: NP2TF401 *read* ×1"])


EXAMPLES = '''
    """A module with examples."""
    import numpy as np

    def plus_one(x):
        """
        >>> plus_one(2.0)
        3.0
        >>> import sys; sys.modules[plus_one.__module__].__spec__.loader.translated
        True
        """
        return float(np.add(x, 1.0))
    '''


@pytest.fixture
def examples(plain: pytest.Pytester) -> pytest.Pytester:
    """A package with doctests and its own tests in it, and a folder of files that is no package."""
    (plain.path / "test_first.py").unlink()
    package = plain.mkpydir("with_examples")
    bare = plain.mkdir("bare")
    for folder in (package, bare):
        (folder / "one.py").write_text(_dedent(EXAMPLES))
        (folder / "tests").mkdir()
        (folder / "tests" / "helper.py").write_text("import numpy as np\nONE = np.ones(1)\n")
        (folder / "test_it.py").write_text(
            "import numpy as np\ndef test_it():\n    assert 'tnp' not in globals()\n"
        )
    return plain


@pytest.mark.parametrize("mode", ["prepend", "importlib"])
@pytest.mark.parametrize("package", ["with_examples", "bare"])
@pytest.mark.parametrize("named", ["", "one.py"])
def test_doctests_are_of_translated_modules(examples: pytest.Pytester, package: str, named: str, mode: str):
    """A module is translated as pytest imports it: by any name, and also if its file is named."""
    collected = f"{package}/{named}"
    options = ("--doctest-modules", f"--import-mode={mode}", "-p", "no:xdist")
    result = examples.runpytest_subprocess(*options, "--np2tf", package, collected)
    result.assert_outcomes(passed=1 if named else 2)
    (line,) = (line for line in result.outlines if line.startswith("modules translated:"))
    assert re.match(rf"modules translated: {package} 1 of ", line)


def test_every_file_may_be_one_with_tests(examples: pytest.Pytester):
    """`python_files = *.py` does not make tests of the package's modules; another pattern does."""
    options = ("--doctest-modules", "-p", "no:xdist", "--np2tf", "with_examples")
    every = examples.runpytest_subprocess(*options, "-o", "python_files=*.py", "with_examples")
    every.assert_outcomes(passed=2)
    result = examples.runpytest_subprocess(*options, "-o", "python_files=one.py", "with_examples/one.py")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["ERROR: nothing of with_examples was translated:*"])


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_run_with_nothing_translated_is_no_success(examples: pytest.Pytester, workers: str):
    """The package is named, and what to do; a package beside it that is translated does not help."""
    pytest.importorskip("xdist")
    packages = ("--np2tf", "absent", "--np2tf", "with_examples")
    result = examples.runpytest_subprocess("--doctest-modules", workers, *packages, "with_examples")
    result.assert_outcomes(passed=2)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(
        [
            "*np2tf: with_examples translated*",
            "ERROR: nothing of absent was translated: * none of its modules;*",
        ]
    )
    options = ("--doctest-modules", "--collect-only", workers)
    collected = examples.runpytest_subprocess(*options, *packages, "with_examples")
    assert collected.ret == 0


def test_nothing_to_translate_is_said(plain: pytest.Pytester):
    plain.mkpydir("plain_pkg")
    plain.makepyfile(test_first="import plain_pkg\ndef test_nothing(): pass")
    result = plain.runpytest_subprocess("--np2tf", "plain_pkg", "-p", "no:xdist")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["ERROR: nothing of plain_pkg was translated: *none of its * uses NumPy*"])


def test_imported_too_early_is_said(project: pytest.Pytester):
    project.makepyfile(early_plugin="import first_pkg")
    project.makepyfile(test_first="import first_pkg\ndef test_nothing(): pass")
    result = project.runpytest_subprocess("-p", "early_plugin", "--np2tf", "first_pkg", "-p", "no:xdist")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["ERROR: nothing of first_pkg was translated: it was imported before*"])


def test_strict_and_off(project: pytest.Pytester):
    strict = project.runpytest_subprocess("--np2tf", "first_pkg", "--np2tf-jit=strict")
    strict.assert_outcomes(passed=1, failed=3)
    strict.stdout.fnmatch_lines(["*StagingError*"])
    off = project.runpytest_subprocess("--np2tf", "first_pkg", "--np2tf-jit=off")
    off.assert_outcomes(passed=4)
    compiled, graph, _, unjitted, traces = numbers(off)
    assert (compiled, graph, unjitted, traces) == (0, 0, 0, 0)


def test_a_wrong_value_is_refused(plain: pytest.Pytester):
    result = plain.runpytest_subprocess("--np2tf-jit=maybe")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_the_summary_adds_processes_up():
    """Calls add up; a finding in a file that every process has imported is one finding."""
    fallback = {"function": "f", "reason": "why", "code": "NP2TF501", "path": "a.py", "line": 2, "calls": 3}
    finding = ("NP2TF401", "a.py", 7, "`g` is not jitted")
    counts_of_process = {"compiled": 2, "graph": 1, "eager": 4, "host": 9, "host_calls": 5, "traces": 1}
    process = {**counts_of_process, "fallbacks": [fallback], "met": [finding], "tensorflow": False}
    lines = summary([process, process])
    assert (
        lines[0]
        == "jitted calls: 4 compiled, 2 graph, 10 on NumPy (6 of them could not be compiled); 2 traces"
    )
    assert lines[1] == "operations on tensors outside of them: 8 on TensorFlow, 8 passed to NumPy"
    assert lines[2] == "TensorFlow: not needed"
    assert lines[4:] == [
        "  a.py:2: NP2TF501 f: why (ran as Python) ×6",
        "  a.py:7: NP2TF401 `g` is not jitted ×1",
    ]
