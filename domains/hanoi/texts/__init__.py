"""What a model is told of the Hanoi task: Markdown with places for the facts that hold under the options."""
