"""Does nothing and waits for the pushes of the hard preset to do the work."""


class FrankaPolicy:
    """Does nothing and waits for the pushes of the hard preset to do the work."""

    def reset(self):
        self.step = 0

    def compute_action(self, obs):
        self.step += 1
        return [0.0] * 7
