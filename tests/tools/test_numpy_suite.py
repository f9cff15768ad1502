"""The lists of what fails in NumPy's own tests: they fail when stale, and say why in words."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from suite import known
from suite.runner import Outcome

MODULE = "lib/tests/test_one.py"
#: So much of the list has a reason in words; the rest has the error as it was.
EXPLAINED = 0.8


def outcomes(**tests: str) -> list[Outcome]:
    """Outcomes of tests of one module: name -> outcome. Brackets are written as double underscores."""
    named = {
        f"{MODULE}::{name.replace('__', '[', 1)}{']' if '__' in name else ''}": how
        for name, how in tests.items()
    }
    return [Outcome(name, how, 0, 0.0, "AssertionError: told") for name, how in named.items()]


def judged(listed: list[str], **tests: str) -> tuple[list[str], list[str]]:
    """The verdict of `judge` on a list: failures that are not in it, and entries that are stale."""
    verdict = known.judge(outcomes(**tests), {f"{MODULE}::{name}": "why" for name in listed}, [MODULE])
    return [verdict_of_test.id.rpartition("::")[2] for verdict_of_test in verdict.unknown], [
        e.rpartition("::")[2] for e in verdict.stale
    ]


def test_a_list_that_fits() -> None:
    """Nothing is said of it, and what belongs to other modules is not looked at."""
    assert judged(["test_a"], test_a="failed", test_b="passed") == ([], [])
    assert judged(["test_a[*]"], test_a__1="failed", test_a__2="crashed") == ([], [])
    elsewhere = {"ma/tests/test_core.py::test_x": "why"}
    assert known.judge(outcomes(test_b="passed"), elsewhere, [MODULE]).stale == []


def test_a_new_failure_is_said() -> None:
    """It is in no list."""
    assert judged([], test_a="failed") == (["test_a"], [])
    assert judged(["test_a[1]"], test_a__1="failed", test_a__2="failed") == (["test_a[2]"], [])


@pytest.mark.parametrize("now", ["passed", "skipped"])
def test_a_stale_entry_is_said(now: str) -> None:
    """A test that does not fail any more, or is not there any more, must leave the list."""
    assert judged(["test_a"], test_a=now) == ([], ["test_a"])
    assert judged(["test_gone"], test_a=now) == ([], ["test_gone"])
    assert judged(["test_a[*]"], test_a__1="failed", test_a__2="passed") == ([], ["test_a[*]"])


def test_update_makes_the_list_fit() -> None:
    """An update keeps the reasons; a new failure has its error as its first reason."""
    listed = {f"{MODULE}::test_a": "why", f"{MODULE}::test_gone": "why"}
    made = known.updated(outcomes(test_a="failed", test_new="failed", test_b="passed"), listed, [MODULE])
    assert made == {f"{MODULE}::test_a": "why", f"{MODULE}::test_new": "AssertionError: told"}


def test_causes_explain_errors() -> None:
    """An error gets the reason of the first cause that fits; words stay as they are."""
    error = "StagingError: TensorFlow has no dtype object"
    assert known.explained(f"{MODULE}::test_a", error).startswith("objects")
    assert known.explained(f"{MODULE}::test_a", "as somebody has written") == "as somebody has written"
    for cause in known.causes():
        assert known.explained(f"{MODULE}::test_a", cause.reason) == cause.reason


def test_the_list_says_why() -> None:
    """Nearly every entry in words; and nothing that a cause explains has its error left as its reason."""
    listed = known.known_failures()
    reasons = {cause.reason for cause in known.causes()}
    assert [entry for entry, reason in listed.items() if known.explained(entry, reason) != reason] == []
    assert sum(reason in reasons for reason in listed.values()) >= EXPLAINED * len(listed)
    assert reasons <= set(listed.values()), "stale causes"


def test_what_is_left_out_says_why() -> None:
    """Each reason is a sentence."""
    assert all(len(reason) > 20 for reason in known.excluded().values())
