"""The files that a repository needs to have np2tf look at it: a configuration, a hook, a job.

Imports the configuration, and reads and makes texts. What asks, prints or writes stays out.

repository.py      what a folder is: its top, its packages, its tests, what is there already
configuration.py   `[tool.np2tf]` at the end of a pyproject.toml, or an np2tf.toml
hooks.py           an entry of .pre-commit-config.yaml
workflow.py        a workflow of GitHub's
origin.py          where np2tf itself is installed from
"""
