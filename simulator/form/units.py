"""Factors between units of size, and parts of 1."""

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
"""bytes"""
PPM = 1_000_000
"""parts per million"""
