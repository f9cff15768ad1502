"""np2tf/translate/facts"""
