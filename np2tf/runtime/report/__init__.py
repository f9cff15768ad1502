"""Reports: the time that a program spent, by operation, function and tier.

May import every folder of the run time; nothing in the run time imports this folder.
"""
