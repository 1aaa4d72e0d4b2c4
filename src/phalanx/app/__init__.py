"""The public functions behind the command line and `import phalanx`."""
