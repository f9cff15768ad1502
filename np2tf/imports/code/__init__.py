"""Makes code that runs translated, under the file's own name and lines.

May import `loops`, `reporting` and the translator. Cache and import system stay out.
"""
