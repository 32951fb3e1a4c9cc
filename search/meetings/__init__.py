"""Meetings of programs on fresh episodes, which selected nothing; all search methods use them.

    stream     the fresh episodes, and what was seen of each program on them
    meeting    the common state of all searches, and how a round of a meeting goes on
    challenge  the best of a generation against the elite
    paired     the paired test that decides it
    choice     the best programs of the run, at its end
    starts     further starts of a perfect elite
"""
