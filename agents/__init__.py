"""The agents that turn one order into one fact, the keepers that decide, and the reading of generated text."""
