"""Translation at import time: the loader, the import hook and `np2tf.import_module`."""
