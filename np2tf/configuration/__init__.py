"""The settings of a project for its files: `[tool.np2tf]` in pyproject.toml, or np2tf.toml.

  configurations = Configurations({"select": ["NP2TF4"]})   # the options of the command line, which win
  settings = configurations.of(path)                        # of the nearest file upwards; cached by folder
  settings.is_selected("NP2TF401", path)                    # select, ignore and per-file-ignores
  settings.options()                                        # for the translator
  settings.told_by["jit"]                                   # where a value comes from

Only the nearest configuration counts: a key that it does not set has its default, even if a configuration
further up sets the key. Imports the diagnostics and the options of the translator; reading sources stays out.

A mistake in a file is a `ConfigurationError`, which the command line reports as wrong usage (status 2).
"""

from __future__ import annotations

from np2tf.configuration.discovery import Configurations
from np2tf.configuration.reading import ConfigurationError
from np2tf.configuration.settings import DEFAULT_EXCLUDE, Settings

__all__ = ["DEFAULT_EXCLUDE", "ConfigurationError", "Configurations", "Settings"]
