"""np2tf/translator/control"""
