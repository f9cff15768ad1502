"""Modules that import one another are translated together for TensorFlow alone, or stay as they are."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.translator.tensorflow.projects import (
    PACKAGE,
    REFUSED,
    TRANSLATED,
    errors,
    every_project,
    for_tensorflow,
)


@pytest.mark.parametrize("name", TRANSLATED)
def test_projects(name: str, results: dict[str, Any]) -> None:
    """A translated project returns and prints what it does on NumPy, and names neither np2tf nor NumPy."""
    assert errors(for_tensorflow(TRANSLATED[name])) == {}
    assert results["programs"][f"project: {name}"] == ""
    for text in every_project()[f"project: {name}"][1].values():
        assert not re.search(r"^\s*(import|from) (np2tf|numpy)\b", text, re.MULTILINE)


@pytest.mark.parametrize("name", REFUSED)
def test_what_stays_of_projects(name: str, results: dict[str, Any]) -> None:
    """What is not provably right stays on NumPy; a module that is refused keeps its text, with the code."""
    files, codes = REFUSED[name]
    made = for_tensorflow(files)
    found = errors(made)
    for path, of_file in found.items():
        assert made[path].text == files[path]
        assert any(code.startswith(codes.get(path, "NP2TF")) for code in of_file), (path, found)
    assert results["programs"][f"project: stays: {name}"] == ""


def test_modules_beside_a_refused_module_are_translated() -> None:
    """A refused module does not keep the modules that import it on NumPy."""
    files = {
        "low.py": "import numpy as np\n\n\ndef f(x):\n    return [float(v) for v in np.nditer(x)]\n",
        "program.py": "import numpy as np\nimport low\n\n\n"
        "def main():\n    return low.f(np.eye(2)), np.sin(np.ones(2))\n",
    }
    made = for_tensorflow(files)
    assert not made["low.py"].changed
    assert "return low.f(np.eye(2)), tnp.sin(tnp.ones(2))" in made["program.py"].text


def test_modules_without_arrays_stay_as_they_are() -> None:
    """A module of Python alone, here with a class, does not change and has no finding."""
    result = for_tensorflow({**PACKAGE})["pack/settings.py"]
    assert not result.changed
    assert result.diagnostics == []


def test_calls_in_other_modules_take_the_written_arrays() -> None:
    """A call of a function of another module that writes to its argument binds the argument again."""
    text = for_tensorflow(TRANSLATED["attributes of modules"])["program.py"].text
    assert "c, u = ops.relax(u, f)" in text
    assert "_, u = pack.relax(u, f)" in text
    assert "d, u = o.relax(u, f)" in text


def test_random_projects(results: dict[str, Any]) -> None:
    """Random programs in several modules are right or refused; most of them are translated."""
    made = {name: told for name, told in results["programs"].items() if name.startswith("project: random")}
    assert {name: told for name, told in made.items() if told} == {}
    assert len(made) > 30
    several = [name for name in made if len(every_project()[name][0]) > 1]
    assert len(several) > 10


def test_a_second_translation_changes_nothing() -> None:
    """The translation of a translated project changes nothing."""
    for name, (_, texts) in every_project().items():
        again = for_tensorflow(texts)
        assert {path: result.text for path, result in again.items()} == texts, name
