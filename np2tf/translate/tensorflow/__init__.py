"""np2tf/translate/tensorflow"""
