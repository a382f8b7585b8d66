"""Pictures of a mahjong table for sessions, tests and training."""
