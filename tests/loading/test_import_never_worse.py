"""An import that works without np2tf works with it; what stays on NumPy is told."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.loading.code import translation
from np2tf.loading.findings import TranslationWarning


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write a module, and import it by way of the hook."""
    monkeypatch.syspath_prepend(str(tmp_path))
    names: list[str] = []

    def write(name: str, text: str | bytes) -> types.ModuleType:
        data = text if isinstance(text, bytes) else textwrap.dedent(text).encode()
        (tmp_path / f"{name}.py").write_bytes(data)
        importlib.invalidate_caches()
        names.append(name)
        with np2tf.translating(*names):
            return importlib.import_module(name)

    yield write
    for name in names:
        sys.modules.pop(name, None)


PLAIN = "import numpy as np\n\n\ndef f(x):\n    return np.sum(x) + 1\n"
SPELLINGS = {
    "bom": b"\xef\xbb\xbf" + PLAIN.encode(),
    "crlf": PLAIN.replace("\n", "\r\n").encode(),
    "cr": PLAIN.replace("\n", "\r").encode(),
    "mixed": PLAIN.replace("\n\n", "\r\n\r").encode(),
    "latin-1": b"# -*- coding: latin-1 -*-\n" + PLAIN.encode() + "s = 'é'\n".encode("latin-1"),
    "tabs and form feeds": PLAIN.replace("    ", "\t").replace("\n\n", "\n\f\n").encode(),
    "no newline at the end": PLAIN.rstrip().encode(),
    "continued": b"import numpy \\\n  as np\nf = lambda x: np.sum(x) \\\n  + 1",
    "one line": b"import numpy as np; f = lambda x: np.sum(x) + 1",
    "docstring and future": b'"""Doc."""\nfrom __future__ import annotations\n' + PLAIN.encode(),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_is_imported(load, spelling: str):
    module = load("spelled", SPELLINGS[spelling])
    assert module.f(np.ones(2)) == 3
    if spelling == "latin-1":
        assert module.s == "é"


PARTLY = """\
import numpy as np


def f(x):
    return len(x) or np.no_such_name


def g(x):
    return np.sum(x)
"""
NOT_JITTED = """\
import numpy as np


def f(x):
    print(x)
    for i in range(3):
        x[i] = np.sum(x)
    return x
"""


def test_what_stays_on_numpy_is_told_at_its_place(load, tmp_path: Path):
    with pytest.warns(TranslationWarning) as caught:
        module = load(
            "partly",
            PARTLY,
        )
    (warning,) = [entry for entry in caught if entry.category is TranslationWarning]
    path = str(tmp_path / "partly.py")
    assert (warning.filename, warning.lineno) == (path, 5)
    assert str(warning.message).startswith(f"{path}:5:22: NP2TF002 NumPy has no public name")
    assert module.f([1, 2]) == 2
    assert isinstance(module.g(np2tf.tnp.ones(3)), np.float64)


def test_several_findings_are_counted(load):
    with pytest.warns(TranslationWarning, match=r"NP2TF002 .* \(and 2 more: `np2tf check"):
        load(
            "several",
            "import numpy as np\nf = lambda: (np.no_one, np.no_two, np.no_three)\nx = np.zeros(1)\n",
        )


def test_what_is_not_worse_is_not_told(load):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module = load(
            "told_by_check",
            NOT_JITTED,
        )
    assert module.__spec__.loader.translated


@pytest.mark.parametrize("action", ["error", "error::UserWarning"])
def test_filters_that_make_errors_of_warnings_break_nothing(load, action: str):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error", UserWarning if "::" in action else Warning)
        module = load("strict", "import numpy as np\nf = lambda: np.no_such_name\nx = np.zeros(1)\n")
    assert module.x.tolist() == [0.0]
    assert "NP2TF002" in str(caught[-1].message)


def test_a_filter_for_our_warning_is_obeyed(load):
    with warnings.catch_warnings():
        warnings.simplefilter("error", TranslationWarning)
        with pytest.raises(TranslationWarning, match="NP2TF002"):
            load("stricter", "import numpy as np\nf = lambda: np.no_such_name\nx = np.zeros(1)\n")


def test_faults_of_the_translator(load, monkeypatch: pytest.MonkeyPatch):
    for where, fault in (("translate", RuntimeError("a\nfault")), ("SourceMap", RecursionError("deep"))):

        def fails(*args: object, fault: Exception = fault):
            raise fault

        with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            patch.setattr(translation, where, fails)
            module = load(f"faulty_{where}", PLAIN)
        (told,) = [str(warning.message) for warning in caught if warning.category is TranslationWarning]
        assert "NP2TF905" in told
        assert told.endswith("the module runs untranslated")
        assert module.np is np
        assert module.f(np.ones(2)) == 3


def test_deep_nesting(load):
    text = "import numpy as np\nx = np.zeros(1)\ny = " + "+".join(["1"] * 700) + "\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert load("deep", text).y == 700


def test_a_module_that_fails_only_translated(load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def broken(*args: object) -> None:
        raise TypeError("ours")

    # Not by setattr, which would bind NumPy's name as well.
    monkeypatch.setitem(vars(np2tf.tnp), "hypot", broken)
    text = "import numpy as np\nseen = []\nx = np.hypot(3.0, 4.0)\n"
    with pytest.warns(TranslationWarning, match="NP2TF941 .* TypeError: ours") as caught:
        module = load("breaks", text)
    assert module.x == 5.0
    assert module.np is np
    assert not hasattr(module, "tnp")
    assert module.__spec__.loader.translated is False
    assert [warning.lineno for warning in caught if warning.category is TranslationWarning] == [3]
    assert module.__spec__.loader.diagnostics[-1].code == "NP2TF941"


@pytest.mark.parametrize(
    "last", ["raise KeyError('mine')", "np.zeros(3)[7]", "import no_such_module_at_all", "undefined_name"]
)
def test_errors_of_the_module_itself(load, last: str):
    text = f"import numpy as np\nx = np.ones(2)\n{last}\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((KeyError, IndexError, ImportError, NameError)) as caught:
            load("own_error", text)
    assert "own_error" not in sys.modules
    assert caught.value.__context__ is None
    frames = [frame for frame in caught.traceback if str(frame.path).endswith("own_error.py")]
    assert frames[-1].lineno + 1 == 3


def test_errors_run_through_a_chain_of_modules_once(load):
    """Each module on the way is not tried again: that would double the work at every step."""
    load("counts", "runs = []\n")
    with pytest.raises(ZeroDivisionError):
        load("link0", "import numpy as np\nimport counts\ncounts.runs.append(0)\nnp.ones(1)\n1 / 0\n")
    for k in range(1, 5):
        head = f"import numpy as np\nimport counts\ncounts.runs.append({k})\n"
        text = f"{head}x = np.ones(1)\nimport link{k - 1}\n"
        with pytest.raises(ZeroDivisionError):
            load(f"link{k}", text)
    sys.modules["counts"].runs.clear()
    with pytest.raises(ZeroDivisionError):
        load("link5", "import numpy as np\nimport counts\nx = np.ones(1)\nimport link4\n")
    assert sys.modules["counts"].runs == [4, 3, 2, 1, 0, 0]


def test_what_ends_the_program_ends_it(load):
    with pytest.raises(SystemExit):
        load("ends", "import sys\nimport numpy as np\nx = np.ones(1)\nsys.exit(3)\n")


def test_syntax_of_another_python(load):
    with pytest.warns(TranslationWarning, match="NP2TF901"), pytest.raises(SyntaxError):
        load("other_syntax", "import numpy as np\nprint 'hello'\n")


NUMBA = """
import sys, types
fake = types.ModuleType("numba")
def njit(function=None, **options):
    return (lambda f: njit(f)) if function is None else types.SimpleNamespace(py=function)
fake.njit = fake.jit = njit
fake.vectorize = lambda signatures: njit
sys.modules["numba"] = fake
"""


def test_what_numba_compiles_stays_as_it_is(load):
    exec(NUMBA, {})
    try:
        module = load(
            "for_numba",
            """
            import numba as nb
            import numpy as np
            from numba import njit

            @njit(cache=True)
            def a(x):
                out = np.zeros_like(x)
                out[0] = np.sin(x[0])
                return out

            @nb.vectorize(["float64(float64)"])
            def b(x):
                return np.exp(x)

            def c(x):
                x[0] = np.sum(x)
                return x

            fast = njit(c)

            def d(x):
                return np.sum(x)
            """,
        )
        elsewhere = load(
            "through_a_module_of_its_own",
            """
            import for_numba
            import numpy as np
            from for_numba import njit

            @njit()
            def a(x):
                return x[0] + np.sin(x[0])

            @for_numba.njit
            def b(x):
                return x + 1

            def d(x):
                return np.sum(x)
            """,
        )
    finally:
        del sys.modules["numba"]
    source = "import numpy as np\ndef a(x):\n    return x[0] + np.sin(x[0])\ndef b(x):\n    return x + 1\n"
    untouched: dict[str, Any] = {}
    exec(source, untouched)
    for name in "ab":
        assert getattr(elsewhere, name).py.__code__.co_code == untouched[name].__code__.co_code
    assert "np" not in elsewhere.d.__code__.co_names
    for function in (module.a.py, module.b.py, module.c):
        assert "np" in function.__code__.co_names
        assert "tnp" not in function.__code__.co_names
    assert module.fast.py is module.c
    assert "np" not in module.d.__code__.co_names
    assert module.np is np


def test_no_cache_no_harm(tmp_path: Path):
    """A home that cannot be written to: one warning, and the import works."""
    (tmp_path / "homeless.py").write_text(PLAIN)
    (tmp_path / "file").write_text("")
    code = "import np2tf; print(np2tf.import_module('homeless').f([1, 2]))"
    root = str(Path(__file__).resolve().parents[2])
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": f"{root}:{tmp_path}",
        "NP2TF_CACHE_DIR": str(tmp_path / "file"),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "4\n", done.stderr
    assert done.stderr.count("NP2TF943") == 1
