"""Summaries joined over a project's imports.

May import no other package of np2tf. Trees and facts stay out: summaries (`summary.py`) are plain data.
"""
