"""What is simulated: machine, operating system, database, workloads, jobs, scenario, catalogue, reading, build."""
