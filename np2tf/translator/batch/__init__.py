"""np2tf/translator/batch"""
