"""What engines run, as arrays with names: programs, stations, devices, samplers, simulated time."""
