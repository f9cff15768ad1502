"""Translations on disk: their folder, their keys, and the translations of a folder in one file.

May import `reporting`, and at the first miss `code`. The import system stays out.
"""
