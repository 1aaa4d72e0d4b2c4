"""What phalanx knows of accelerators, limits and rules of AWS, as data with sources."""
