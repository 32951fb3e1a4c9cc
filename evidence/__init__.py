"""Evidence: comparisons of methods, their numbers, and the page that shows them."""
