"""Shapes and prices from other people's lists: one module per format, `detect` and `read` as for runs."""
