"""Run programs on NumPy and their translations on TensorFlow, compare what they return, and time both.

Like the commands, this package sees both columns. It prints nothing: `np2tf verify` does.
"""

from __future__ import annotations

from np2tf.verify.program import Outcome, find_programs, verify_program

__all__ = ["Outcome", "find_programs", "verify_program"]
