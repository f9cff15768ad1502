"""The demonstrations: all systems have the same results, and the command prints and draws them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from click.testing import CliRunner

import np2tf
from examples.common import command
from examples.common.cases import (
    COMPILED,
    JAX,
    NUMPY,
    TF_GRAPH,
    Case,
    has_jax,
    jax_call,
    numpy_call,
    on_host,
    tensorflow_calls,
)
from examples.common.tables import as_markdown, as_text
from examples.common.timing import UnequalError, compare, measured
from examples.optimiser import source as optimiser
from examples.weight_normalisation import layer
from examples.weight_normalisation import source as weights

EXAMPLES = Path(command.__file__).parents[1]


@pytest.mark.parametrize("name", command.NAMES)
def test_all_systems_agree(name: str) -> None:
    """With small sizes: np2tf, TensorFlow by hand, and JAX where it is installed, beside NumPy."""
    seen: set[str] = set()
    module = command.load(name)
    if (translated := getattr(module, "translated", None)) is not None:
        loader = translated.__spec__.loader
        assert loader.translated, loader.findings
        assert translated is not module.source
    for case in module.cases(quick=True):
        compare(case)
        seen |= set(case.calls)
        assert len(case.calls) >= 4
        assert all(np.all(np.isfinite(array)) for array in on_host(next(iter(case.calls.values()))()))
    labels = " ".join(seen)
    assert "np2tf" in labels
    assert "compiled" in labels or "in tf.function" in labels  # ragged tensors are no inputs of `np2tf.jit`
    assert "tf.function" in labels
    assert NUMPY in seen
    assert (JAX in seen) == has_jax()


@pytest.mark.parametrize("name", [name for name in command.NAMES if hasattr(command.load(name), "notes")])
def test_training(name: str) -> None:
    """A demonstration that trains says how far it has come."""
    notes = command.notes_of(name, quick=True)
    assert notes
    assert any(character.isdigit() for character in notes[0])


def test_every_folder_is_in_the_list() -> None:
    """Each folder is a demonstration with plain NumPy source, which names neither np2tf nor TensorFlow."""
    folders = {path.parent.name for path in EXAMPLES.glob("*/source.py")}
    assert folders == set(command.NAMES)
    for path in EXAMPLES.glob("*/source.py"):
        text = path.read_text(encoding="utf-8")
        assert "import numpy as np" in text
        assert not any(word in text for word in ("np2tf", "tensorflow", "tnp", "jax"))
    for version in ("by_tensorflow.py", "by_jax.py"):
        assert {path.parent.name for path in EXAMPLES.glob(f"*/{version}")} == folders


def test_the_command_prints_and_draws(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pictures are drawn where the extra [plot] is installed")
    for picture in ("picture.svg", "picture.png"):
        words = ["gelu", "--quick", "--plot", str(tmp_path / picture)]
        done = CliRunner().invoke(command.main, words)
        assert done.exit_code == 0, done.output
        assert "All results are equal" in done.output
        assert COMPILED in done.output
        assert (tmp_path / picture).stat().st_size > 5000
    one_size = CliRunner().invoke(
        command.main, ["weight_normalisation", "--quick", "--plot", str(tmp_path / "bars.svg")]
    )
    assert one_size.exit_code == 0, one_size.output
    assert (tmp_path / "bars.svg").stat().st_size > 5000


def test_the_list_and_wrong_words() -> None:
    listed = CliRunner().invoke(command.main, [])
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.output.splitlines()] == list(command.NAMES)
    assert CliRunner().invoke(command.main, ["nothing"]).exit_code == 2
    assert CliRunner().invoke(command.main, ["gelu", "--plot", "picture.txt"]).exit_code == 2


def test_unequal_results_are_seen() -> None:
    case = Case("panel", "3", {"one": lambda: [np.ones(3)], "two": lambda: [np.ones(3) + 1e-6]})
    with pytest.raises(UnequalError, match=r"panel, 3: two differs from one"):
        compare(case)
    compare(Case("panel", "3", {"one": lambda: np.ones(3), "two": lambda: tf.ones(3, tf.float64)}))
    with pytest.raises(ValueError, match="longer"):
        compare(Case("panel", "3", {"one": lambda: [np.ones(3)] * 2, "two": lambda: np.ones(3)}))


def test_times_and_tables() -> None:
    calls = {**numpy_call(np.sin, np.ones(3)), **tensorflow_calls(tf.sin, np.ones(3))}
    times = measured(Case("sine", "3", calls), 0.0)
    assert set(times) == set(calls)
    assert all(0 < seconds < 10 for seconds in times.values())
    sizes = {"3": {NUMPY: 0.00123, TF_GRAPH: 0.5}, "4": {NUMPY: 0.002}}
    assert as_text("sine", sizes).splitlines()[2].split() == [NUMPY, "1.23", "2"]
    assert as_markdown("sine", sizes).splitlines()[-1] == f"| {TF_GRAPH} | 500 | - |"


def test_without_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are left out, and the command says so."""
    monkeypatch.setattr("examples.common.cases.has_jax", lambda: False)
    assert jax_call("examples.gelu.by_jax", "gelu", np.ones(3)) == {}
    done = CliRunner().invoke(command.main, ["weight_normalisation", "--quick"])
    assert done.exit_code == 0
    assert "JAX is not installed: its rows are left out." in done.output
    assert JAX not in done.output


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
def test_jax_has_float64() -> None:
    (call,) = jax_call("examples.gelu.by_jax", "gelu", np.linspace(-1, 1, 5)).values()
    assert np.asarray(call()).dtype == np.float64


def test_the_computed_kernel_trains() -> None:
    """Keras' layer has the kernel of the NumPy function, and training by its variables lowers the loss."""
    rng = np.random.default_rng(0)
    start = rng.normal(size=(4, 3))
    dense, computed = layer(np2tf.translate(weights.kernel), start, 3)
    x = rng.normal(size=(20, 4))
    y = x @ rng.normal(size=(4, 3))
    computed.length.assign([1.0, 2.0, 3.0])
    np.testing.assert_allclose(dense(x), x @ weights.kernel(start, np.array([1.0, 2.0, 3.0])), rtol=1e-12)
    losses = []
    for _ in range(60):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((dense(x) - y) ** 2)
        losses.append(float(loss))
        for variable, gradient in zip(
            (computed.direction, computed.length),
            tape.gradient(loss, (computed.direction, computed.length)),
            strict=True,
        ):
            variable.assign_sub(0.3 * gradient)
    assert losses[-1] < 0.05 * losses[0]


def test_the_rule_of_the_optimiser() -> None:
    """One step, by hand: the weight decays, and its direction is clipped."""
    state = {"mean": np.zeros(2), "square": np.zeros(2)}
    weight, state = optimiser.update(np.array([1.0, -1.0]), np.array([3.0, 0.0]), state, 0.1, 1)
    np.testing.assert_allclose(weight, [1 - 0.1 * (1 + 0.01), -1 + 0.1 * 0.01], rtol=1e-6)
    np.testing.assert_allclose(state["mean"], [0.3, 0.0])
