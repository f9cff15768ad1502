"""np2tf/translator/rewrites"""
