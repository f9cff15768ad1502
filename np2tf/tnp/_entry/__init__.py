"""The entrance to the TensorFlow half: routing loads all of it, and reports and settings can replace entries.

May import everything in `tnp`; nothing below may import this folder, except by its name in `np2tf.lazy`.
"""
