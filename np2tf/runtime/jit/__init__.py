"""`np2tf.jit`: the decorator, and the object that it returns.

May import `host` and the levels below it; works without TensorFlow. Code that needs TensorFlow belongs to
`compilation`, which is loaded by the first call that is to be compiled.
"""
