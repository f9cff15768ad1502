"""Which TensorFlow ops XLA cannot compile on a CPU, or makes much slower than the graph's kernels are.

Measured on TensorFlow 2.21, two cores (the figures are in docs/measurements.md).
"""

from __future__ import annotations

import tensorflow as tf

#: No XLA:CPU kernel, or one with another meaning.
UNSUPPORTED = frozenset(
    {
        "HistogramFixedWidth",
        "Eig",
        "LogMatrixDeterminant",
        "RepeatV2",
        "PyFunc",
        "EagerPyFunc",
        "Bincount",
        "DenseBincount",
    }
)
#: XLA:CPU takes several times as long as the kernel.
SLOW = frozenset(
    {
        "Svd",
        "SelfAdjointEigV2",
        "Cholesky",
        "MatrixSolve",
        "MatrixSolveLs",
        "MatrixInverse",
        "Qr",
        "MatrixTriangularSolve",
    }
    | {"TopKV2", "Unique", "UniqueV2", "UniqueWithCountsV2", "LowerBound", "UpperBound", "MatrixDeterminant"}
    | {
        "FFT",
        "FFT2D",
        "FFT3D",
        "FFTND",
        "IFFT",
        "IFFT2D",
        "IFFT3D",
        "IFFTND",
        "RFFT",
        "RFFT2D",
        "IRFFT",
        "IRFFT2D",
    }
)


def ops_of(graph: tf.Graph) -> set[str]:
    """Types of all ops in a graph, those inside loops, branches and functions included."""
    definition = graph.as_graph_def()
    found = {node.op for node in definition.node}
    for function in definition.library.function:
        found.update(node.op for node in function.node_def)
    return found


def xla_pays(ops: set[str]) -> bool:
    """Whether code of these ops should be compiled by XLA."""
    return not against_xla(ops)


def against_xla(ops: set[str]) -> set[str]:
    """Those of `ops` that XLA lacks or makes slow."""
    return ops & UNSUPPORTED | ops & SLOW
