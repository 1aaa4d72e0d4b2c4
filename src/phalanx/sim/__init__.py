"""The simulator: the real steps and the real decisions in a seeded, unkind world."""
