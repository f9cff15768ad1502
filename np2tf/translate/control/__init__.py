"""np2tf/translate/control"""
