"""Lists of the caller's that a function only appends to: its code is the same whatever is in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.core.counts import counts
from tests.helpers.differential import HEAD, load, translation

SOURCE = (
    HEAD
    + """
class Recorder:
    def __init__(self):
        self.values = []
        self.energy = []
        self.steps = 0

    def __call__(self, model):
        if model.steps % 2:
            return
        self.steps += 1
        self.values.append(float(np.sum(model.x ** 2)))
        self.energy.append((model.steps, model.energy))


class Model:
    def __init__(self, x):
        self.x = x
        self.steps = 0
        self.energy = 0.0
        self.losses = []
        self.snapshots = []
        self.recorders = [Recorder(), Recorder()]

    def step(self):
        self.x = self.x * 0.9
        self.energy = 0.5 * float(np.sum(self.x))
        self.steps += 1


def train(model, rate):
    model.x = model.x * (1 - rate)
    loss = np.sum(model.x)
    model.losses.append(float(loss))
    return loss


def run(model, n):
    for _ in range(n):
        model.step()
        for recorder in model.recorders:
            recorder(model)
    return model.x


def reads(model, rate):
    model.x = model.x * (1 - rate)
    model.losses.append(float(np.sum(model.x)))
    return model.losses[-1] + len(model.losses)


def tests(model, rate):
    model.losses.append(float(np.sum(model.x)))
    if model.losses:
        model.x = model.x * rate
    return model.x


def keeps_arrays(model, rate):
    model.snapshots.append(model.x)
    model.x *= rate
    return model.x


def keeps_arrays_of_a_class(model, rate):
    if isinstance(model, Model):
        model.snapshots.append(model.x * rate)
    return model.x


def gives_back(model, rate):
    model.losses.append(float(np.sum(model.x)) * rate)
    return model.losses


def other_name(model, losses):
    model.losses.append(float(np.sum(model.x)))
    return losses[0] + np.sum(model.x)


def may_fail(model, rate):
    model.losses.append(float(np.sum(model.x)))
    return model.x[int(rate)]
"""
)


def state(model: Any) -> Any:
    recorders = [(recorder.values, recorder.energy, recorder.steps) for recorder in model.recorders]
    return model.x.tolist(), model.steps, model.energy, model.losses, recorders


def both() -> tuple[dict[str, Any], dict[str, Any]]:
    return load(SOURCE), load(translation(SOURCE))


def close(a: Any, b: Any) -> bool:
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(close, a, b))
    return bool(np.isclose(a, b, rtol=1e-12)) and isinstance(b, (type(a), float, int))


def test_one_trace_for_every_length() -> None:
    numpys, translated = both()
    wanted, found = (space["Model"](np.arange(5.0)) for space in (numpys, translated))
    losses = found.losses
    with np2tf.config.using(jit="on", tier="compile"):
        before = counts.traces
        for _ in range(9):
            assert close(numpys["train"](wanted, 0.1), translated["train"](found, 0.1))
        assert counts.traces == before + 1
    assert close(state(wanted), state(found))
    assert found.losses is losses
    assert all(type(loss) is float for loss in losses)


def test_in_loops_and_branches_of_callees() -> None:
    """`energy` is the list of a recorder and the number of a model."""
    numpys, translated = both()
    wanted, found = (space["Model"](np.arange(5.0)) for space in (numpys, translated))
    with np2tf.config.using(jit="on", tier="compile"):
        for n in (30, 30, 31):
            np.testing.assert_allclose(numpys["run"](wanted, n), translated["run"](found, n))
            assert close(state(wanted), state(found))
        assert translated["run"].explain(found, 30).runs == "xla"


@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
@pytest.mark.parametrize(
    "name", ["reads", "tests", "gives_back", "keeps_arrays", "keeps_arrays_of_a_class", "may_fail"]
)
def test_what_is_done_with_a_list_else(name: str) -> None:
    numpys, translated = both()
    wanted, found = (space["Model"](np.arange(5.0)) for space in (numpys, translated))
    with np2tf.config.using(jit="on", tier="compile"):
        for _ in range(4):
            results = numpys[name](wanted, 0.5), translated[name](found, 0.5)
            assert close(np.asarray(results[0]).tolist(), np.asarray(results[1]).tolist())
    assert close(state(wanted), state(found))
    if name == "gives_back":
        assert results[1] is found.losses
    if name == "keeps_arrays":
        assert all(snapshot is found.x for snapshot in found.snapshots)
    if name == "keeps_arrays_of_a_class":
        np.testing.assert_array_equal(found.snapshots, wanted.snapshots)


def test_a_list_under_another_name_too() -> None:
    numpys, translated = both()
    wanted, found = (space["Model"](np.arange(5.0)) for space in (numpys, translated))
    with np2tf.config.using(jit="on", tier="compile"):
        for model, space in ((wanted, numpys), (found, translated)):
            model.losses.append(1.0)
            assert space["other_name"](model, model.losses) == 11.0
    assert close(state(wanted), state(found))


def test_a_discarded_call_appends_once() -> None:
    numpys, translated = both()
    wanted, found = (space["Model"](np.arange(5.0)) for space in (numpys, translated))
    with np2tf.config.using(jit="on", tier="compile"):
        for place in (3.0, 7.0, 4.0):
            for model, space in ((wanted, numpys), (found, translated)):
                try:
                    space["may_fail"](model, place)
                except IndexError:
                    assert place == 7.0
    assert found.losses == wanted.losses == [10.0, 10.0, 10.0]
