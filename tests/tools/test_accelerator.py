"""Packed kernels run where np2tf and TensorFlow are absent; one that never ends holds up no other."""

from __future__ import annotations

import gzip
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

#: In the place of `sitecustomize`, which Python imports when it starts.
WITHOUT = """
import sys


class Refuses:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("np2tf", "tensorflow", "keras"):
            raise ImportError(f"{name} is not here")


sys.meta_path.insert(0, Refuses())
"""
GOOD, ENDLESS = ("lu-SMALL-float64", "lu-SMALL-float32", "cholesky-SMALL-float64"), "histogram-SMALL-float64"


@pytest.fixture
def packed(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of three programs, and behind the first one of them one that never ends."""
    jax = pytest.importorskip("jax")
    export = importlib.import_module("jax.export")
    monkeypatch.syspath_prepend(str(root / "benchmarks" / "accelerator"))
    pack = importlib.import_module("pack")
    folder = tmp_path / "packed"
    folder.mkdir()
    entries = {key: pack.pack(pack.Case(*key.split("-")), folder, "gpu") for key in GOOD}
    samples = pack.Case(*ENDLESS.split("-")).arguments()[0]

    def endless(samples, weights):
        forever = jax.lax.while_loop(lambda k: k >= 0, lambda k: (k + 1) % 1000, samples[0].astype("int32"))
        return samples * forever

    with jax.enable_x64():
        kinds = [jax.ShapeDtypeStruct(samples.shape, np.float64)] * 2
        program = export.export(jax.jit(endless, keep_unused=True))(*kinds).mlir_module_serialized
    (folder / f"{ENDLESS}.mlirbc.gz").write_bytes(gzip.compress(program))
    kind = [[*samples.shape], "float64"]
    digests = [pack.digest(array) for array in pack.Case(*ENDLESS.split("-")).arguments()[:2]]
    entry = {"inputs": [kind] * 2, "input_digests": digests, "outputs": [kind], "results": None, "written": 0}
    entries[ENDLESS] = {**entry, "has_check": False, "tolerance": 1e-6}
    order = [GOOD[0], ENDLESS, *GOOD[1:]]
    lines = [json.dumps({"key": key, **entries[key]}) for key in order]
    lines.append(json.dumps({"key": "crc16-SMALL-float64", "error": "not packed"}))
    (folder / "manifest.jsonl").write_text("\n".join(lines))
    return folder


def test_packed_programs(root: Path, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(WITHOUT)
    out = tmp_path / "out"
    words = ["--packed", str(packed), "--out", str(out), "--seconds", "150", "--limit", "6", "--threads", "2"]
    words += ["--repeat", "0.01", "--systems", "np2tf,hand,numpy"]

    def run() -> None:
        done = subprocess.run(
            [sys.executable, str(root / "benchmarks" / "accelerator" / "run.py"), *words],
            env={**os.environ, "PYTHONPATH": str(tmp_path), "JAX_PLATFORMS": "cpu"},
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert done.returncode == 0, done.stderr

    run()
    found = json.loads((out / "results.json").read_text())
    for key in GOOD:
        row = found["cases"][key]
        assert row["np2tf"]["right"] is row["hand"]["right"] is True
        assert 0 < row["np2tf"]["warm"] < 1
        assert 0 < row["np2tf"]["copies"] < 1
        assert row["np2tf"]["a round"] >= 1
    assert found["cases"][GOOD[0]]["np2tf"]["rounds"] == found["cases"][GOOD[0]]["hand"]["rounds"] == 11
    assert "took more than 6 s" in found["cases"][ENDLESS]["np2tf"]["error"]
    assert found["left out"] == {"crc16-SMALL-float64": "not packed"}
    rows = [line for line in (out / "table.md").read_text().splitlines() if line.startswith("| ")]
    names = {row.split()[1] for row in rows}
    assert {"lu", "cholesky"} < names
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- figures: begin --><!-- figures: end -->\nafter\n")
    report = importlib.import_module("report")
    monkeypatch.setattr(sys, "argv", ["report.py", str(out / "results.json"), "--page", str(page)])
    report.main()
    assert page.read_text().startswith("before\n<!-- figures: begin -->\n\ncpu, JAX")
    assert "| lu | " in page.read_text()
    lines = (out / "results.jsonl").read_text().splitlines()
    run()  # has nothing to do, since every figure is there
    assert len((out / "results.jsonl").read_text().splitlines()) == len(lines) + 1
