"""The five decisions of a plan, one module each."""
