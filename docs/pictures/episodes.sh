#!/bin/sh
# Makes the pictures of episodes again, with the reference policies. Run it from the root of the checkout.
set -eu
out=docs/pictures
./memento render tests/reference_policies/hanoi.py --domain hanoi --randomisation light --seed 1 \
    --set hanoi.physics=fast --size 300x225 --every 40 --out "$out/hanoi.gif"
./memento render tests/reference_policies/kitchen.py --domain kitchen --episode 1 --size 800x520 --at 29 \
    --out "$out/kitchen.png"
