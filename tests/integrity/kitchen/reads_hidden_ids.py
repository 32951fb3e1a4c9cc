"""Looks in the first observations for the ids of things that it has not seen."""


class Policy:
    """Looks in the first observations for the ids of things that it has not seen."""

    def reset(self):
        self.step = 0

    def compute_action(self, obs):
        self.step += 1
        for word in ("apple", "bread", "microwave", "fridge"):
            targets = obs["targets"]
            seen = any(row["objectType"].lower() == word for row in obs["visible_objects"])
            if self.step == 1 and not seen and targets[word + "_object_id"] is not None:
                raise RuntimeError("a hidden id is in the observation")
        return ("done" if self.step > 1 else "look_down"), None
