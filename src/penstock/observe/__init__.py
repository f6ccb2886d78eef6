"""Observation: facts about a pipeline, read from its home, for people, programs and Prometheus."""
