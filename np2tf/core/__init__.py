"""np2tf/core"""
