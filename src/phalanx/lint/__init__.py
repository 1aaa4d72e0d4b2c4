"""Lint: mistakes of ML workloads on ECS in files that say what should run."""
