"""Parts that all transforms share: structures, leaves, the function to run, and the recording of a call.

Each public transform is a module of the folder above, which imports these. May import the run time and `tnp`.
Code that only one transform needs stays out.
"""
