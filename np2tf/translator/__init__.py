"""np2tf/translate"""
