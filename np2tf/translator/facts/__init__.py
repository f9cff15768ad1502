"""np2tf/translator/facts"""
