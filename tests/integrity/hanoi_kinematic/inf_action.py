"""Sends infinities, in the hope of a jump."""


class FrankaPolicy:
    """Sends infinities, in the hope of a jump."""

    def reset(self):
        self.step = 0

    def compute_action(self, obs):
        self.step += 1
        return [float("inf"), float("-inf"), 0, 0, 0, 0, 1]
