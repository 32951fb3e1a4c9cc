"""Looks in its memory for the kitchen, to move its objects by hand."""

import gc


class Policy:
    """Looks in its memory for the kitchen, to move its objects by hand."""

    def reset(self):
        self.step = 0

    def compute_action(self, obs):
        self.step += 1
        for thing in gc.get_objects():
            if type(thing).__name__ in ("World", "Contents", "KitchenEnvironment", "Embedded"):
                raise SystemExit("found one")
        return ("done" if self.step > 3 else "look_down"), None
