"""The lines, one in each file. `measure(workshop)` yields the figures; limits are at the top."""
