"""Sends a list that is nested a hundred thousand times."""


class Policy:
    """Sends a list that is nested a hundred thousand times."""

    def reset(self):
        self.step = 0

    def compute_action(self, obs):
        self.step += 1
        action = []
        for _ in range(100_000):
            action = [action]
        return action
