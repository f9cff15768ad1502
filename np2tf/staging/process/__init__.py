"""TensorFlow and threads in this process: when TensorFlow is imported, what is patched there, raw tensors at
the boundary of translated code.
"""
