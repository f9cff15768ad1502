"""Translation at import time: the loader, the import hook and `np2tf.import_module`.

Its folders may import both columns, and each other as tests/test_layers.py lists. Only the plugins of pytest
and IPython belong to this folder itself, because their users name them by its path.
"""
