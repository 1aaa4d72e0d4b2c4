"""The simulator: the real controller steps and the real agent decisions in a seeded, unkind world."""
