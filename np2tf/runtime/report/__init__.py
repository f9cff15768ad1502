"""Reports: what a program spent its time on, and what ran where.

May import every folder of the run time; nothing in the run time imports this one.
"""
