"""From arguments to tensors: conversion, promotion, staged and path-dependent numbers, NumPy's warnings."""
