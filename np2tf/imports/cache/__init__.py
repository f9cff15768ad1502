"""Translations on disk: where they are kept, under which key, and the translations of a folder in one piece.

May import `reporting`, and at the first miss `code`. The import system stays out.
"""
