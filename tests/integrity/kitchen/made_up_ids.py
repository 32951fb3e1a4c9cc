"""Makes up ids that look like the targets and contain control characters and other objects."""


class Policy:
    """Makes up ids that look like the targets and contain control characters and other objects."""

    def reset(self):
        self.step = 0

    def compute_action(self, obs):
        self.step += 1
        ids = ("Apple", "Apple|", "Apple|*", "Apple\x00Bread", "../Apple", "Apple|+00.00|+00.00|+00.00", "A" * 5_000)
        if self.step > 4 * len(ids):
            return "done", None
        name = ("pickup_object", "put_object", "toggle_on", "open_object")[self.step % 4]
        return name, ids[self.step % len(ids)]
