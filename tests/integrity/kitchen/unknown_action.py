"""Asks for an action of AI2-THOR that the task does not have: to be teleported."""


class Policy:
    """Asks for an action of AI2-THOR that the task does not have: to be teleported."""

    def reset(self):
        self.step = 0

    def compute_action(self, obs):
        self.step += 1
        return "teleport", None
