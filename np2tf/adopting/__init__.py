"""Files by which a repository uses np2tf: a configuration, a commit hook, a job of continuous integration.

Imports the configuration, and reads and makes texts. Code that asks the user, prints or writes stays out.

repository.py      the repository around a folder: its top, packages, tests and present configuration
configuration.py   `[tool.np2tf]` at the end of a pyproject.toml, or an np2tf.toml
hooks.py           an entry of .pre-commit-config.yaml
workflow.py        a workflow of GitHub's
origin.py          the source that np2tf itself is installed from
"""
