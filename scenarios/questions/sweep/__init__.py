"""Sweeps: one scenario over values of its fields, kept as it goes.

axes and design say what is run, replications how often, store what is done already; runner runs the rest in one of the
places of scenarios.places or on a cluster; answer is the frozen outcome, and text, figures and export show it.
"""
