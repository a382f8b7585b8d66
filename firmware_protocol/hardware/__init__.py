"""Generators: C tables and documents made out of the data in ``hardware/``."""
