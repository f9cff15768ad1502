"""Summaries joined over a project's imports.

May import `np2tf.summary` and nothing else of np2tf. Trees and facts stay out: summaries are plain data.
"""
