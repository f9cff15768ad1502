"""NumPy's API over TensorFlow: arrays that are views of storages, functions over tensors, and their doors."""
