"""Factors between units of size, and between units of time other than the engines' own (clock.py)."""

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
"""bytes"""
