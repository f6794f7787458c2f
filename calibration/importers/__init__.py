"""One module per format: `detect` says from a file's beginning whether it is one, `read` says what is in it."""
