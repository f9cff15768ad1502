"""Many files at once: what is known already, worker processes, results in order.

Imports the translation of one file (`np2tf.files`), the files on disk, and the cache of translations. What is
printed stays out.

tasks.py       one file: bytes in, bytes, a patch and findings out
unchanged.py   the files that are known to stay as they are
workers.py     tasks on several processes
many.py        all of that for the files of a command
trees.py       where the translations of a tree are written to
"""
