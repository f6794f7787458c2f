"""What stands behind oltpsim.py: values that its functions take and give, and the modules that they use."""
