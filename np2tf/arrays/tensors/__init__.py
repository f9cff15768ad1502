"""What stands below the array: storages, staged integers, checks at run time, questions about graphs, kernels
by dtype.
"""
