"""What is bought: processors, memory, disks, network."""
