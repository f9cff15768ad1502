"""np2tf/translator/tensorflow"""
