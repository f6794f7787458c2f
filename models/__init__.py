"""What is simulated: machine, operating system, database, workload, the catalogue, and how they become a system."""
