"""The import system: the hook, the loader, and `np2tf.import_module`.

May import `cache` and `reporting`. Programs and single functions stay out.
"""
