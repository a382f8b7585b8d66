"""What ``make bench`` measures: a module a topic, each giving rows with units and budgets."""
