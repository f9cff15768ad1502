"""Summaries joined over a project's imports."""
