"""np2tf/translator/linking"""
