"""np2tf/translate/sources"""
