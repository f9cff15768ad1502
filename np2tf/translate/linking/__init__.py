"""np2tf/translate/linking"""
