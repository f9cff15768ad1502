"""Code in texts for people: blocks and sessions in pages of Markdown and reStructuredText, and doctests.

May import the translation of one text. Code that reads and writes files stays out.
"""
