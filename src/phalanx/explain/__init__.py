"""Evidence in, causes and decisions out: what is left of a dead job, read without any access."""
