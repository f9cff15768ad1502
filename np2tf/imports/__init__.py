"""Translation at import time: the loader, the import hook and `np2tf.import_module`.

Its folders may import both columns, and each other as tests/test_layers.py lists. Only the pytest plugin is
in this folder itself, because the package's metadata name it here.
"""
