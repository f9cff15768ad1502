"""Single functions and classes translated where they stand: `@np2tf.translate`, and callees of staged code.

May import `hooks` and what lies below it. Programs stay out.
"""
