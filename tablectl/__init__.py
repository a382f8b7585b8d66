"""tablectl: a live scoreboard and referee for automatic mahjong tables."""

__version__ = "0.1.0"
