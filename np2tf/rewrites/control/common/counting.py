"""Tests on parameters that count a function's recursive calls: they end the recursion and stay Python."""

from __future__ import annotations

import libcst as cst

from np2tf.facts.dataflow.reads_writes import reads
from np2tf.rewrites.control.common.construct import Judge


def counts(judge: Judge, test: cst.BaseExpression) -> bool:
    """Return whether a test is on a parameter that counts the function's calls of itself."""
    return bool(reads(test) & judge.counters) and judge.static.probably(test)
