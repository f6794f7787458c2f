"""Commands, one file each; cli.py lists them and imports each when it is called."""
