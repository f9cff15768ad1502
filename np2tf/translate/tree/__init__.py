"""np2tf/translate/tree"""
