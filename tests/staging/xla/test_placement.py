"""The measured data on where ops had better run: well formed, complete, and what `np2tf.jit` goes by."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.front.residency import device_kind
from np2tf.staging.xla import placement as module
from np2tf.staging.xla.placement import LIMIT, data_file, placement

FILES = sorted(Path(module.__file__).parent.glob("placement_*.toml"))


def test_there_are_data_for_this_device():
    assert data_file("cpu") in FILES
    assert device_kind() in ("cpu", "gpu", "tpu")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_data_are_well_formed(path: Path):
    known = placement(path.stem.removeprefix("placement_"))
    assert not known.missing_ops & set(known.milliseconds)
    for op in [*known.missing_ops, *known.milliseconds]:
        assert hasattr(tf.raw_ops, op), op
    for kernel, xla in known.milliseconds.values():
        assert 0 < kernel < 1e5
        assert 0 < xla < 1e6
    assert known.slow_ops == {op for op, (a, b) in known.milliseconds.items() if b > LIMIT * a}


def test_what_the_cpu_is_known_for():
    known = placement("cpu")
    assert known.missing_ops >= {"Eig", "HistogramFixedWidth"}
    assert known.slow_ops >= {"Svd", "Cholesky", "TopKV2", "Unique"}
    assert not known.slow_ops & {"AddV2", "MatMul", "GatherV2", "Sum", "TensorScatterAdd"}


def test_a_device_without_data_goes_by_the_cpus():
    assert placement("no such device") == placement("cpu")


def test_jit_goes_by_the_data(monkeypatch):
    def f(x):
        return tnp.cumsum(tnp.sin(x)) * 2

    x = np.ones(8)
    assert np2tf.jit(f).lower(x).how == "xla"
    slow = replace(placement("cpu"), milliseconds={"Cumsum": (1.0, 2 * LIMIT)})
    monkeypatch.setattr(module, "placement", lambda kind: slow)
    made = np2tf.jit(f).lower(x)
    assert made.how == "graph"
    assert "Cumsum" in made.not_xla
    lacking = replace(slow, missing_ops=frozenset({"Sin"}), milliseconds={})
    monkeypatch.setattr(module, "placement", lambda kind: lacking)
    assert "Sin" in np2tf.jit(f).lower(x).not_xla


def test_python_and_kernels_that_check_their_input_are_never_compiled():
    assert module.ops_against_xla({"PyFunc", "AddV2", "DenseBincount"}) == {"PyFunc", "DenseBincount"}

    @np2tf.jit(tier="compile")
    def f(x):
        return tf.math.bincount(x)

    assert f.lower(tf.constant([1, 2])).how == "graph"
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant([1, -2]))
