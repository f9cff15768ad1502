"""np2tf/arrays"""
