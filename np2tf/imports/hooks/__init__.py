"""The import system: the hook, the loader, and `np2tf.import_module`.

May import `cache`, `code` and the levels below them. Programs and single functions stay out.
"""
