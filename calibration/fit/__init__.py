"""The fit: parameters, what runs show of them, the search, and what the fit is worth."""
