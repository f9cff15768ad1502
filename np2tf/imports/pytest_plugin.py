"""The pytest plugin, under the path that configurations name (`-p np2tf.imports.pytest_plugin`)."""

from __future__ import annotations

from np2tf.integrations.pytest_plugin import plugin as plugin
from np2tf.integrations.pytest_plugin import pytest_addoption as pytest_addoption
