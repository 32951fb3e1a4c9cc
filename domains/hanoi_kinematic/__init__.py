"""Tower of Hanoi without a physics engine: the same interface and rules, thousands of steps a second."""
