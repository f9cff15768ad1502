"""The API map: complete, consistent, and quick to load."""

from __future__ import annotations

import builtins
import operator
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from np2tf.core import rules
from np2tf.translator.rewrites.uses import ON_NUMPY
from tests.helpers.numpy_names import has, names

RULES = rules.rules()
MODULES = ("linalg", "fft", "random")


def test_main_namespace_is_complete() -> None:
    """Every public name of NumPy has a rule, is a module np2tf has, or is left to NumPy on purpose."""
    public = {name for name in np.__all__ if not name.startswith("_") or name == "__version__"}
    missing = {name for name in public if f"numpy.{name}" not in RULES} - ON_NUMPY - set(MODULES)
    assert not missing


@pytest.mark.parametrize("module", MODULES)
def test_submodules_are_complete(module: str) -> None:
    """numpy.linalg, numpy.fft and numpy.random as well."""
    missing = {name for name in names(f"numpy.{module}") if f"numpy.{module}.{name}" not in RULES}
    assert missing <= {"test"}


def test_methods_are_complete() -> None:
    """And the methods and attributes of an array."""
    assert not {name for name in names("numpy.ndarray") if f"numpy.ndarray.{name}" not in RULES}


def test_rules_say_which_numpy_has_a_name() -> None:
    """A rule says which versions of NumPy have its name: all versions, or the versions from `since` to
    `until`.
    """
    every = {**RULES, **rules.kept_names()}
    # The platform's C compiler decides how long a long double is, or NumPy has no name for it.
    here = {name for name in every if not name.startswith(("numpy.float128", "numpy.complex256"))}
    said = {name for name in here if every[name].exists_in(np.__version__)}
    assert {name for name in here if has(name)} == said


@pytest.mark.parametrize(
    ("since", "until", "versions"),
    [
        ("", "", "2.1.0 2.4.6 2.5.0 2.10.0.dev0"),
        ("2.2", "", "2.2.0rc1 2.5.5 2.10.1"),
        ("2.4", "2.9", "2.4.0 2.9.9"),
        ("", "1.26", ""),
    ],
)
def test_versions_are_compared_as_numbers(since: str, until: str, versions: str) -> None:
    """2.10 is after 2.9, and a release of the same minor version has the same names."""
    rule = rules.Rule("numpy.name", "chapter", "host", since=since, until=until)
    asked = ["2.1.0", "2.2.0rc1", "2.4.0", "2.4.6", "2.5.0", "2.5.5", "2.9.9", "2.10.0.dev0", "2.10.1"]
    assert not [version for version in versions.split() if not rule.exists_in(version)]
    assert rule.exists_in("2.1.0") == (not since and until != "1.26")
    assert all(rule.exists_in(version) for version in asked) == (not since and not until)


def test_removed_names_lead_somewhere() -> None:
    """The new name of a removed name exists in NumPy, or is a builtin of Python; a removed name without a
    translation has a reason.
    """
    for name, rule in RULES.items():
        if rule.chapter != "removed":
            continue
        assert rule.reason or rule.kind != "no", name
        assert rule.new_name or rule.expression or rule.kind == "no", name
        if rule.new_name:
            assert operator.attrgetter(rule.new_name)(builtins if rule.builtin else np) is not None, name
            assert not rule.builtin or hasattr(np, rule.when_hidden), name


def test_removed_names_are_removed() -> None:
    """A name that NumPy 2 still has belongs to its chapter, except a name that only warns until it goes."""
    assert all(rule.until for rule in RULES.values() if rule.chapter == "removed")


def test_ufuncs_are_ufuncs() -> None:
    """The chapter holds NumPy's ufuncs, all of them and nothing else; each has `at`."""
    listed = {
        name[6:]
        for name, rule in RULES.items()
        if rule.chapter == "ufuncs" and name.count(".") == 1 and rule.exists_in(np.__version__)
    }
    assert listed == {name for name in np.__all__ if isinstance(getattr(np, name), np.ufunc)}
    assert rules.find("numpy.add.at").writes == ("a",)


@pytest.mark.parametrize(
    ("name", "parameter"),
    [("copyto", "dst"), ("put", "a"), ("place", "arr"), ("putmask", "a"), ("fill_diagonal", "a")],
)
def test_writes(name: str, parameter: str) -> None:
    """Functions that write say into which argument, which is their first."""
    assert rules.find(f"numpy.{name}").writes == (parameter,)


def test_the_run_time_knows_the_same_writers_without_reading_the_rules() -> None:
    from np2tf.arrays.dispatch.host_fallback import WRITES

    # The methods of arrays and `at` of the ufuncs are found otherwise.
    assert {
        name: rule.writes[0]
        for name, rule in RULES.items()
        if rule.writes and not name.startswith("numpy.ndarray.") and not name.endswith(".at")
    } == WRITES


def test_the_run_time_knows_what_makes_arrays_without_reading_the_rules() -> None:
    from np2tf.arrays.front.numpy_functions import CREATES

    creating = {name.removeprefix("numpy.") for name, rule in RULES.items() if rule.creates}
    # These make an array where their operand lives; the frequencies are in the chapter of transforms.
    of_operands = {"astype", "diag", "diagflat", "meshgrid", "tril", "triu", "vander"}
    assert creating - of_operands == CREATES - {"fft.fftfreq", "fft.rfftfreq"}


def test_writing_parameter_is_the_first() -> None:
    """Where NumPy tells its signature, the written parameter comes first in it."""
    import inspect

    checked = 0
    for name, rule in RULES.items():
        if not rule.writes or name.count(".") != 1:
            continue
        try:
            parameters = list(inspect.signature(getattr(np, name[6:])).parameters)
        except ValueError:
            continue
        assert parameters[0] == rule.writes[0], name
        checked += 1
    assert checked >= 3


def test_random_and_shapes() -> None:
    """Facts that hold for a whole chapter, and for single names."""
    assert all(rule.random for rule in RULES.values() if rule.chapter == "random")
    assert rules.find("numpy.unique").dynamic_shape
    assert rules.find("numpy.reshape").returns_view
    assert rules.find("numpy.no_such_name") is None


def test_no_code_decides_by_a_chapters_name() -> None:
    """A row may move from file to file: the facts of a rule decide, and never the file that lists it."""
    package = Path(rules.__file__).parent.parent
    reading = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if re.search(r"\.chapter\b", path.read_text(encoding="utf-8"))
    }
    # Where the functions of SciPy are implemented is told by the stem of their rules.
    assert reading == {"arrays/front/scipy_functions.py"}


@pytest.mark.parametrize(
    "text",
    [
        'native = ["a"]\n[facts_of_all]\nreturns_array = true\n[exceptions]\nreturns_array = ["b"]\n',
        'native = ["a"]\n[exceptions]\nreturns_array = ["a"]\n',
        'native = ["a"]\n[facts_of_some]\nreturns_array = ["b"]\n',
    ],
)
def test_exceptions_are_of_names_and_facts(tmp_path, monkeypatch, text: str) -> None:
    """An exception for a name that the chapter does not list, or from no fact, is a slip of the pen."""
    (tmp_path / "odd.toml").write_text(text)
    monkeypatch.setattr(rules, "rules_folder", lambda: tmp_path)
    with pytest.raises(ValueError, match=r"odd\.toml"):
        rules._chapter("odd")


def test_exceptions_lack_the_fact_of_all() -> None:
    assert rules.find("numpy.cumsum").returns_array
    assert not rules.find("numpy.sum").returns_array


def test_names_that_draw_do() -> None:
    """A generator's method that draws moves its stream on; any other method leaves the stream alone, or is
    about the stream itself.
    """
    calls = {
        "binomial": (3, 0.5), "choice": (5,), "dirichlet": ([1.0, 2.0],), "hypergeometric": (9, 9, 4),
        "integers": (9,), "multinomial": (4, [0.5, 0.5]), "multivariate_hypergeometric": ([4, 4], 3),
        "multivariate_normal": ([0.0, 0.0], np.eye(2)), "negative_binomial": (3, 0.5),
        "noncentral_f": (2.0, 2.0, 1.0), "permutation": (9,), "permuted": (np.arange(9),),
        "shuffle": (np.arange(9),), "triangular": (0.0, 1.0, 2.0), "noncentral_chisquare": (2.0, 1.0),
    }  # fmt: skip
    two, one = ("beta", "f", "vonmises"), ("chisquare", "gamma", "geometric", "logseries", "pareto", "power")
    one += ("standard_gamma", "standard_t", "wald", "weibull", "zipf")
    calls |= {**dict.fromkeys(two, (2.0, 2.0)), **dict.fromkeys(one, (0.5,))}
    calls |= {"wald": (1.0, 1.0), "zipf": (2.0,)}
    for name, rule in rules.kept_names().items():
        if rule.chapter != "modules/generator":
            continue
        method = name.rpartition(".")[2]
        generator = np.random.default_rng(1)
        before = repr(generator.bit_generator.state)
        if rule.draws:
            getattr(generator, method)(*calls.get(method, ()))
            assert repr(generator.bit_generator.state) != before, name
        else:
            assert method in ("bit_generator", "bytes", "spawn")


def test_static_results_ignore_elements() -> None:
    """A function whose result is static says the same of arrays that differ in their elements only."""
    names = {name.removeprefix("numpy.") for name, rule in RULES.items() if rule.static}
    for name in names - {"can_cast", "issubdtype"}:
        assert getattr(np, name)(np.zeros((2, 3))) == getattr(np, name)(np.ones((2, 3))), name
    assert {"shape", "ndim", "size", "can_cast", "issubdtype"} <= names


def test_methods_that_return_arrays_do() -> None:
    x = np.arange(6.0).reshape(1, 6)
    arguments = {"astype": (int,), "reshape": (3, 2), "swapaxes": (0, 1)}
    for name, rule in RULES.items():
        method = name.removeprefix("numpy.ndarray.")
        if rule.returns_array and method != name:
            assert isinstance(getattr(x, method)(*arguments.get(method, ())), np.ndarray), name


def test_unknown_facts_are_refused(tmp_path, monkeypatch) -> None:
    """A fact about a name that the chapter does not list is a slip of the pen."""
    (tmp_path / "odd.toml").write_text('native = ["a"]\n[facts]\nb.returns_view = true\n')
    monkeypatch.setattr(rules, "rules_folder", lambda: tmp_path)
    with pytest.raises(ValueError, match=r"odd\.toml"):
        rules._chapter("odd")


def test_loading_needs_the_standard_library_only() -> None:
    """Rules are read without tensorflow, numpy or libcst."""
    heavy = "{'numpy', 'tensorflow', 'libcst'}"
    code = (
        f"import sys; from np2tf.core import rules; rules.rules(); print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
