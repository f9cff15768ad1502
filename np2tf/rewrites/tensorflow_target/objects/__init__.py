"""The classes of the program: their definitions, the attributes of their objects, and their methods.

Imports `model`, `facts`, `tree` and the floor; calls stay out. An attribute has one set of possible values
for all objects of the classes that derive from one class.
"""
