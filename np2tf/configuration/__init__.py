"""What a project chooses for its files: `[tool.np2tf]` in pyproject.toml, or np2tf.toml.

    configurations = Configurations({"select": ["NP2TF4"]})   # what the command line says goes before
    settings = configurations.of(path)                        # of the nearest file upwards; cached by folder
    settings.is_selected("NP2TF401", path)                    # select, ignore and per-file-ignores
    settings.options()                                        # for the translator
    settings.told_by["jit"]                                   # where a value comes from

The nearest configuration counts as a whole: what it does not say has its default, whatever stands further up.
Imports the diagnostics and the options of the translator; what looks at sources stays out.

What is wrong with a file is a `ConfigurationError`, which the command line makes wrong usage (status 2).
"""

from __future__ import annotations

from np2tf.configuration.discovery import Configurations
from np2tf.configuration.reading import ConfigurationError
from np2tf.configuration.settings import DEFAULT_EXCLUDE, Settings

__all__ = ["DEFAULT_EXCLUDE", "ConfigurationError", "Configurations", "Settings"]
