"""The agent that the programs of this folder share: it follows a script of signs."""

MOVES = {"M": "move_ahead", "L": "rotate_left", "R": "rotate_right", "U": "look_up", "D": "look_down"}
DEEDS = {
    "a": ("pickup_object", "apple"), "b": ("pickup_object", "bread"), "A": ("put_object", "microwave"),
    "B": ("put_object", "fridge"), "W": ("open_object", "microwave"), "w": ("close_object", "microwave"),
    "F": ("open_object", "fridge"), "f": ("close_object", "fridge"), "T": ("toggle_on", "microwave"),
    "t": ("toggle_off", "microwave"),
}


class Scripted:
    """Plays the script of its scene, a string of signs, from `scripts`."""

    def reset(self):
        self.script = None

    def compute_action(self, obs):
        if self.script is None:
            self.script = iter(self.scripts[obs["scene"]])
        sign = next(self.script, None)
        if sign is None:
            return "done", None
        if sign in MOVES:
            return MOVES[sign], None
        name, word = DEEDS[sign]
        return name, obs["targets"][word + "_object_id"]
