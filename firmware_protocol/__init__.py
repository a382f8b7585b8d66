"""The wire between the host and the mahjong table's controller (docs/protocol.md)."""
