"""The door to the TensorFlow half: routing loads all of it; entry points that can be replaced."""
