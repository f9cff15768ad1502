"""Summaries joined over a project's imports.

Imports nothing else of np2tf. Trees and facts stay out: summaries (`summary.py`) are plain data.
"""
