"""`--target tf`: an interpreter that follows the possible values of a program and plans its
translation to TensorFlow alone.
"""
