"""The critic: which frames of an episode it is shown, what it is asked, and how prompts quote it."""
