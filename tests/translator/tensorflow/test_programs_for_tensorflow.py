"""Translations for TensorFlow alone give NumPy's results where np2tf cannot be imported, or there is none."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from tests.translator.tensorflow.border_cases import PARTLY
from tests.translator.tensorflow.cases import LOUD, REFUSED, TRANSLATED
from tests.translator.tensorflow.class_cases import REFUSED as CLASSES_REFUSED
from tests.translator.tensorflow.class_cases import TRANSLATED as WITH_CLASSES
from tests.translator.tensorflow.programs import (
    fixture_paths,
    fixtures,
    for_tensorflow,
    random_programs,
    reasons,
    refusals,
    translated_fixtures,
)


@pytest.mark.parametrize("name", fixture_paths())
def test_fixtures(name: str, results: dict[str, Any]) -> None:
    """A translated fixture returns and prints what it does on NumPy; any other fixture keeps its text."""
    if name in translated_fixtures():
        assert results["programs"][name] == ""
        return
    assert name not in results["programs"]
    if name in fixtures():  # and not a fixture that is no Python
        text, made = fixtures()[name]
        assert made.text == text
        assert refusals(made) or not made.changed


@pytest.mark.parametrize("name", TRANSLATED)
def test_cases(name: str, results: dict[str, Any]) -> None:
    """Writes, and calls that differ between NumPy and tf.experimental.numpy, are translated rightly."""
    assert refusals(for_tensorflow(TRANSLATED[name])) == []
    assert results["programs"][name] == ""


@pytest.mark.parametrize("name", LOUD)
def test_errors_of_tensorflow_are_not_handled(name: str, results: dict[str, Any]) -> None:
    """A handler of NumPy's error never takes TensorFlow's, which may come where NumPy has none."""
    assert refusals(for_tensorflow(LOUD[name])) == []
    assert re.search(
        "is \\('raised', .(SystemError: an error of TensorFlow's|InvalidArgument)", results["programs"][name]
    )


def test_loops_become_graphs(results: dict[str, Any]) -> None:
    """Loops with one dtype and shape for each name run as graphs; all other loops go on in Python."""
    left = results["left_to_python"]
    rounds = {name: left[name] for name in TRANSLATED if name.startswith("rounds ") and name in left}
    assert rounds.pop("rounds that Python decides") > 0
    assert set(rounds) >= {"rounds of a graph", "rounds in rounds of a graph"}
    assert set(rounds.values()) == {0}


def test_text_of_loops() -> None:
    """A loop is a function of its state, which a helper runs with TensorFlow's control flow."""
    text = for_tensorflow(TRANSLATED["rounds of a graph"]).text
    assert "v, x, u = _collecting_loop(range(1, 70), step, (v, x, u), (rows, ends))" in text
    for name in ("tf.while_loop", "tf.cond", "tf.TensorArray", "tf.function"):
        assert name in text
    assert "_for_loop" not in for_tensorflow(TRANSLATED["names that take turns"]).text


def test_random_programs(results: dict[str, Any]) -> None:
    """Random programs with aliases and writes are right or refused; most of them are translated."""
    made = {name: told for name, told in results["programs"].items() if re.match(r"random \d", name)}
    assert {name: told for name, told in made.items() if told} == {}
    assert len(made) > 25
    objects = {name: told for name, told in results["programs"].items() if name.startswith("objects ")}
    assert {name: told for name, told in objects.items() if told} == {}
    assert len(objects) > 25
    borders = {name: told for name, told in results["programs"].items() if name.startswith("borders ")}
    assert {name: told for name, told in borders.items() if told} == {}
    assert len(borders) > 25
    assert len(made) + len(objects) + len(borders) == len(random_programs())


@pytest.mark.parametrize("name", WITH_CLASSES)
def test_classes(name: str, results: dict[str, Any]) -> None:
    """Objects have NumPy's attributes, methods and properties."""
    assert refusals(for_tensorflow(WITH_CLASSES[name])) == []
    assert results["programs"][name] == ""


@pytest.mark.parametrize("name", {**REFUSED, **CLASSES_REFUSED})
def test_what_stays(name: str, results: dict[str, Any]) -> None:
    """What is not provably right stays on NumPy, and the rest gives NumPy's results; a file of which nothing
    is translated stays as it is, with the code.
    """
    source, code = {**REFUSED, **CLASSES_REFUSED}[name]
    made = for_tensorflow(source)
    if refusals(made):
        assert code in refusals(made), refusals(made)
        assert made.text == source
    else:
        assert reasons(made) or not made.changed
        assert results["programs"][f"stays: {name}"] == ""


@pytest.mark.parametrize("name", PARTLY)
def test_borders(name: str, results: dict[str, Any]) -> None:
    """A program is translated as far as it goes, and gives NumPy's results."""
    made = for_tensorflow(PARTLY[name])
    assert refusals(made) == []
    assert made.changed
    assert results["programs"][f"stays: {name}"] == ""


def test_most_fixtures_are_decided() -> None:
    """As many fixtures as before are translated; all other fixtures are refused with codes of this target."""
    codes = Counter(code for _, made in fixtures().values() for code in set(refusals(made)))
    assert set(codes) <= {f"NP2TF{number}" for number in range(601, 611)}
    assert len(translated_fixtures()) >= 185


def test_text() -> None:
    """A translation does not name np2tf, of NumPy it names generators and what NumPy computes, and its own
    translation changes nothing.
    """
    for name in translated_fixtures():
        text = fixtures()[name][1].text
        assert not re.search(r"^\s*(import|from) np2tf\b", text, re.MULTILINE), name
        if re.search(r"^\s*(import|from) numpy\b", text, re.MULTILINE) and not reasons(fixtures()[name][1]):
            code = re.sub(r'""".*?"""', "", text, flags=re.DOTALL)
            assert not re.search(r"(?<!_on_host\()\bnp\.(?!random\b|linalg\.LinAlgError|ndindex)", code), name
        assert "import tensorflow as tf" in text, name
        assert for_tensorflow(text).text == text, name
