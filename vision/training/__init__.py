"""Training, export and evaluation of the tile recogniser (needs the ``train`` extra)."""
