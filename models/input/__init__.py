"""What every description is made of: units, frozen specs, YAML, sentences about what is wrong."""
