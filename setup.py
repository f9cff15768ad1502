"""The part of the build that pyproject.toml cannot say: found packages, and `rules/` as data among them."""

from __future__ import annotations

from setuptools import find_packages, setup

setup(packages=[*find_packages(include=["np2tf", "np2tf.*"]), "np2tf.rules"])
