"""Tower of Hanoi with a simulated Franka Panda arm (paper, appendix A)."""
