"""Sends two actions in one step."""


class Policy:
    """Sends two actions in one step."""

    def reset(self):
        self.step = 0

    def compute_action(self, obs):
        self.step += 1
        return [["move_ahead", None], ["rotate_left", None]]
