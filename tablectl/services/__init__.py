"""What surrounds the pure core: bus, clock, broker, MQTT, web server, recorder."""
