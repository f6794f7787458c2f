"""Colours: Okabe and Ito's palette, which colour-blind readers tell apart, and the two themes of a page.

Every colour of a mark reads on white and on black; text, axes and grid get theirs from the theme.
"""

BLUE, SKY, GREEN, ORANGE = "#0072b2", "#56b4e9", "#009e73", "#e69f00"
VERMILION, PINK, GREY, SLATE = "#d55e00", "#cc79a7", "#8a8f98", "#6c88a6"
SERIES_COLOURS = (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, SLATE, GREY)
"""colours of series without a meaning of their own, in this order"""
FAINT = "rgba(128,132,140,0.16)"
THEMES = {
    "light": {"ink": "#1b1f24", "muted": "#59626d", "grid": "#e3e6ea", "axis": "#9aa3ae", "paper": "#ffffff"},
    "dark": {"ink": "#e8eaed", "muted": "#a5aeb9", "grid": "#2b323b", "axis": "#6b7582", "paper": "#181c22"},
}


def translucent(colour: str, opacity: float) -> str:
    """A colour `#rrggbb` through which the grid is seen."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"
