"""Translation at import time: the loader, the import hook and `np2tf.import_module`.

Its folders may import both columns, and one another as tests/test_layers.py lists. Only the plugin for pytest
lies here itself, under the name that the package's metadata give.
"""
