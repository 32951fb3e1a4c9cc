"""Programs as text: what `ast` tells of one, patches of one, and the named numbers in it. No program is run here."""
