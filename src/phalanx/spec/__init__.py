"""What the user asked for: job files, read with their places and checked in plain words."""
