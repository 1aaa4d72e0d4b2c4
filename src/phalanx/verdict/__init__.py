"""What happened and which of it was first: pure, and the only place that decides it."""
