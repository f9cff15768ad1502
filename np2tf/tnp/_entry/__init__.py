"""Where calls enter the TensorFlow half: routing loads all of it, and entries can be replaced for a while.

May import everything in `tnp`; nothing below may import this folder, except by its name in `np2tf.lazy`.
"""
