"""What is measured: a file each. `measure(workshop)` yields the figures, and the limits stand at the top."""
