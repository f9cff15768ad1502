"""np2tf/translator/sources"""
