"""What a model reads about the Hanoi task: Markdown with places for the facts that hold under the options."""
