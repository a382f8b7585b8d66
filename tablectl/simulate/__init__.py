"""A simulated table with simulated players, for demonstrations and for tests of the whole way."""
