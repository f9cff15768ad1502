"""`np2tf explain NAME`."""

from __future__ import annotations

import pytest

from np2tf.cli.main import np2tf as command
from tests.helpers.command_runner import CliRunner


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("np.sum", "Example: np.sum(a, axis=0)"),
        ("numpy.linalg.norm", "numpy.linalg.norm (native"),
        ("np.fill_diagonal", "Writes to a and returns"),
        ("np.reshape", "Returns a view"),
        ("np.unique", "result's shape may depend"),
        ("np.random.normal", "numpy.random.normal (host"),
        ("np.asscalar", "Why: use the array's item method"),
        ("np.product", "now prod"),
        ("np.NZERO", "now -0.0"),
        ("np.AxisError", "now exceptions.AxisError"),
        ("np.ma", "Why: TensorFlow has no masked arrays"),
        ("np.vecmat", "Since NumPy 2.2."),
        ("np.trapz", "Until NumPy 2.3."),
    ],
)
def test_explain_a_name(name: str, said: str) -> None:
    """Kind, facts, reason and examples."""
    done = CliRunner().invoke(command, ["explain", name])
    assert done.exit_code == 0
    assert said in done.output


def test_explain_no_name() -> None:
    """A name that NumPy does not have is a usage error."""
    assert CliRunner().invoke(command, ["explain", "np.no_such_name"]).exit_code == 2
