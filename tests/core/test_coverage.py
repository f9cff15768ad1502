"""`np2tf coverage`: every public name of NumPy is decided, and the docs have what the command prints."""

from __future__ import annotations

import json
import operator
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from np2tf import tnp
from np2tf.cli.commands.coverage import REMOVED_NAMES, names_by_module, totals
from np2tf.cli.main import np2tf as command
from np2tf.core import rules
from tests.helpers.command_runner import CliRunner
from tests.helpers.numpy_names import CLASSES, names, reached

MODULES = (
    *("numpy", "numpy.linalg", "numpy.fft", "numpy.random", "numpy.polynomial", "numpy.ma", "numpy.char"),
    *(
        "numpy.strings",
        "numpy.lib",
        "numpy.lib.stride_tricks",
        "numpy.testing",
        "numpy.rec",
        "numpy.exceptions",
    ),
)
SERIES = ("chebyshev", "hermite", "hermite_e", "laguerre", "legendre", "polynomial", "polyutils")


def ran(*arguments: str) -> str:
    """Return the output of the command."""
    done = CliRunner().invoke(command, ["coverage", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("path", [*MODULES, "numpy.emath", *CLASSES])
def test_every_public_name_is_decided(path: str) -> None:
    """As native, host or no, and only once."""
    module = names_by_module()[path]
    decided = [*module.native, *module.host, *module.no]
    # NumPy 2 still has some names that it removes, with a warning.
    going = set(names_by_module()[REMOVED_NAMES].native) if path == "numpy" else set()
    assert names(path) - set(decided) - going == set()
    assert len(decided) == len(set(decided))


@pytest.mark.parametrize("module", SERIES)
def test_functions_of_series_are_decided(module: str) -> None:
    """Of numpy.polynomial's modules, what they export."""
    listed = set(reached(f"numpy.polynomial.{module}").__all__) - {"ABCPolyBase"}
    found = names_by_module()[f"numpy.polynomial.{module}"]
    assert listed - {*found.native, *found.host} == set()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_op_library_has_the_kept_names() -> None:
    """`tnp` has those names of rules/modules/ that NumPy has, under the same path."""
    instances = {"numpy.ufunc.": tnp.add, "numpy.generic.": tnp.float64(1.0)}
    for name, rule in rules.kept_names().items():
        if not rule.exists_in(np.__version__):
            continue
        owner, _, last = name.rpartition(".")
        tnp_owner = (
            instances.get(f"{owner}.") or operator.attrgetter(owner[6:])(tnp) if owner != "numpy" else tnp
        )
        assert hasattr(tnp_owner, last), name


def test_a_name_is_decided_once() -> None:
    """A name that the translator renames is no kept name."""
    assert set(rules.rules()) & set(rules.kept_names()) == set()


def test_the_page_is_what_the_command_prints(root: Path) -> None:
    """docs/coverage.md ends with the output of `np2tf coverage --markdown`."""
    page = (root / "docs" / "coverage.md").read_text(encoding="utf-8")
    _, marked, tables = page.partition("<!-- written by np2tf coverage --markdown -->\n\n")
    assert marked
    assert tables == ran("--markdown")


def test_json_has_every_name() -> None:
    """{module: {"native": [names], "host": [names], "no": {name: reason}}}."""
    told = json.loads(ran("--json"))
    assert "sum" in told["numpy"]["native"]
    assert "save" in told["numpy"]["host"]
    assert told[REMOVED_NAMES]["no"]["asscalar"] == rules.find("numpy.asscalar").reason
    assert all(reason for module in told.values() for reason in module["no"].values())
    assert all(set(module) == {"native", "host", "no"} for module in told.values())
    assert "shuffle" in told["numpy.random.Generator"]["host"]


def test_the_table_counts() -> None:
    """One line for a module, and their sums."""
    lines = ran().splitlines()
    assert lines[0].split() == ["native", "host", "no"]
    assert lines[-1].split() == ["all", *map(str, totals(names_by_module().values()))]
    assert f"numpy.fft {len(names_by_module()['numpy.fft'].native)}".split() == lines[6].split()[:2]


def test_filters() -> None:
    """A module by its name, names by a part of them; nothing found is wrong usage."""
    assert ran("np.linalg").splitlines()[0] == "numpy.linalg"
    assert set(names_by_module("np.linalg")) == set(names_by_module("numpy.linalg")) == {"numpy.linalg"}
    assert set(names_by_module("vander")) >= {"numpy", "numpy.polynomial.chebyshev"}
    assert names_by_module("np.ma.masked_wh")["numpy.ma"].host == ["masked_where"]
    assert "no      asscalar: use the array's item" in ran("asscalar")
    without_names = CliRunner().invoke(command, ["coverage", "no_such_name"])
    assert without_names.exit_code == 2
    assert "no_such_name" in without_names.output


def test_explain_knows_the_kept_names() -> None:
    """`np2tf explain np.ma.masked_where`."""
    done = CliRunner().invoke(command, ["explain", "np.ma.masked_where"])
    assert "numpy.ma.masked_where (host" in done.output


def test_the_command_needs_neither_numpy_nor_tensorflow() -> None:
    """It reads rules/, and answers at once."""
    code = (
        "import sys; from np2tf.cli.commands.coverage import coverage; "
        "coverage(['np.fft'], standalone_mode=False); "
        "assert not {'numpy', 'tensorflow', 'libcst'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)
