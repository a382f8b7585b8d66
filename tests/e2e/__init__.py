"""The whole product at work: real daemon, real serial line and camera feed, simulated table."""
