"""np2tf/translator/tree"""
