"""A second implementation of the reference evaluator's fitness, in plain Python: slow, easy to check with the paper."""

TARGETS = ("apple", "bread", "microwave", "fridge")
USEFUL = {
    ("pickup_object", "apple"), ("pickup_object", "bread"), ("open_object", "microwave"), ("open_object", "fridge"),
    ("put_object", "microwave"), ("put_object", "fridge"), ("close_object", "microwave"), ("toggle_on", "microwave"),
    ("close_object", "fridge"),
}


def fitness(tau):
    """f_e and the list of P_t of one episode."""
    rows = len(tau["success"])
    limit = int(tau["max_steps"])
    names = [str(name) for name in tau["action_names"]]
    whats = [str(name) for name in tau["target_names"]]
    done = [
        (names[int(a)], whats[int(t)], bool(w))
        for a, t, w in zip(tau["action"], tau["action_target"], tau["action_success"], strict=True)
    ]
    nearest = dict.fromkeys(TARGETS, 0.0)
    progress, best_so_far = [], []
    for t in range(rows):
        seen = {}
        for word in TARGETS:
            if tau[f"{word}_visible"][t]:
                near = min(1.0, max(0.0, (2.0 - float(tau[f"{word}_distance_m"][t])) / 1.5))
                nearest[word] = max(nearest[word], near)
            seen[word] = 0.6 + 0.4 * nearest[word] if tau[f"{word}_seen"][t] else 0.0
        apple_in, bread_in = tau["apple_in_microwave"][t], tau["bread_in_fridge"][t]
        p = 0.06 * seen["apple"] + 0.06 * seen["bread"] + 0.10 * seen["microwave"] + 0.10 * seen["fridge"]
        p += 0.08 * (tau["apple_picked"][t] or apple_in) + 0.08 * (tau["bread_picked"][t] or bread_in)
        p += 0.08 * (tau["microwave_open"][t] or apple_in) + 0.08 * (tau["fridge_open"][t] or bread_in)
        p += 0.16 * apple_in + 0.16 * bread_in + 0.04 * tau["microwave_on"][t]
        progress.append(float(p))
        best_so_far.append(max(progress))
    merged = 0.35 * max(progress) + 0.65 * progress[-1]

    tried = [w for name, _, w in done if name.endswith("_object") or name.startswith("toggle")]
    useful = {(name, what) for name, what, w in done if w} & USEFUL
    q_int = len(useful) / 9 * (0.5 + 0.5 * sum(tried) / len(tried)) if tried else 0.0
    q_vis = 0.0
    for word in TARGETS:
        share = sum(bool(flag) for flag in tau[f"{word}_visible"]) / rows
        q_vis += (0.7 * seen[word] + 0.3 * min(1.0, share / 0.2)) / 4
    after = best_so_far[1:] + [best_so_far[-1]] * max(0, limit - (rows - 1))
    q_eff = min(1.0, sum(after) / len(after))

    moves = [w for name, _, w in done if name in ("move_ahead", "rotate_left", "rotate_right", "look_up", "look_down")]
    failed = 1 - sum(moves) / len(moves) if moves else 0.0
    wait, waits, best = 0, [0], -1.0
    for p in progress:
        wait = 0 if p > best + 1e-9 else wait + 1
        best = max(best, p)
        waits.append(wait)
    stalled = 0.0 if any(tau["success"]) else min(1.0, max(waits) / limit)
    blocked = 0.6 * failed + 0.4 * stalled
    runs = [0]
    for word in ("apple", "bread"):
        run = 0
        for flag in tau[f"{word}_picked"]:
            run = run + 1 if flag else 0
            runs.append(run)
    carry = min(1.0, max(0, max(runs) - 40) / max(1, limit - 40))

    value = 0.74 * merged + 0.14 * q_int + 0.06 * q_vis + 0.06 * q_eff - 0.07 * blocked - 0.03 * carry
    floor = 0.0
    for t in range(rows):
        apple_in, bread_in = tau["apple_in_microwave"][t], tau["bread_in_fridge"][t]
        if tau["apple_picked"][t] or tau["bread_picked"][t]:
            floor = max(floor, 0.06)
        if tau["microwave_seen"][t] or tau["fridge_seen"][t]:
            floor = max(floor, 0.10)
        if tau["microwave_open"][t] or tau["fridge_open"][t]:
            floor = max(floor, 0.18)
        if apple_in or bread_in:
            floor = max(floor, 0.42)
        if apple_in and bread_in:
            floor = max(floor, 0.90 if tau["microwave_on"][t] else 0.72)
        if tau["success"][t]:
            floor = max(floor, 0.98)
    return min(1.0, max(0.0, value, floor)), progress
