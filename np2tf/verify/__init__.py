"""Run programs and projects on NumPy and translated, compare their results and output, and time both
versions.

Like the commands, this package may import both columns. Printing stays out: `np2tf verify` prints.
"""

from __future__ import annotations

from np2tf.cli.verify.command_line import CommandOutcome
from np2tf.cli.verify.own_tests import OwnTestsOutcome, Pair
from np2tf.cli.verify.programs import Outcome, find_programs, verify_program
from np2tf.cli.verify.projects import Project, ProjectError, ProjectOutcome, find_projects, verify_project

__all__ = [
    "CommandOutcome",
    "Outcome",
    "OwnTestsOutcome",
    "Pair",
    "Project",
    "ProjectError",
    "ProjectOutcome",
    "find_programs",
    "find_projects",
    "verify_program",
    "verify_project",
]
