"""Translation of single functions and classes in place: `@np2tf.translate`, and callees of staged code.

May import `hooks` and the levels below it. Programs stay out.
"""
