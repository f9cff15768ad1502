"""np2tf/translate/rewrites"""
