"""Translate many files at once: skip files that need no translation, use worker processes, keep the order.

Imports the translation of one file (`np2tf.files`), the files on disk, and the cache of translations.
Printing stays out.

tasks.py            one file: bytes in, bytes, a patch and findings out
unchanged_files.py  the files that a translation does not change, as earlier runs have found
workers.py          tasks on several processes
file_batch.py       all of these for the files of a command
trees.py            where the translations of a tree are written
"""
