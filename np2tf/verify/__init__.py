"""Run programs and projects on NumPy and translated, compare their results and output, and time both
versions.

Like the commands, this package may import both columns. Printing stays out: `np2tf verify` prints.
"""

from __future__ import annotations

from np2tf.verify.own_tests import OwnTestsOutcome, Pair
from np2tf.verify.program import Outcome, find_programs, verify_program
from np2tf.verify.project import Project, ProjectError, find_projects
from np2tf.verify.projects import ProjectOutcome, verify_project
from np2tf.verify.with_arguments import CommandOutcome

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
