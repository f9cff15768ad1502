"""`np2tf.jit`: the decorator, and the object that it returns.

May import `host` and what lies below it; works without TensorFlow. What needs TensorFlow belongs to
`compilation`, which the first call that is to be compiled loads.
"""
