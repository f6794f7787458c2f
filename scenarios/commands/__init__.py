"""The commands, one file each. They import what they need when they run, so that --help is quick."""
