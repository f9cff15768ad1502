"""np2tf/translate/batch"""
