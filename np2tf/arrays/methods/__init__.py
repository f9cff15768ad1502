"""What is attached to the array class: attributes, methods, operators, protocols of NumPy, Python,
TensorFlow.
"""
