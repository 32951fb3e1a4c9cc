#!/bin/sh
# Makes the pictures of the documents anew, from episodes of the policies that the tests use. From the checkout's root.
set -eu
out=docs/pictures
./memento render tests/domains/reference_policies/hanoi.py --domain hanoi --randomisation light --seed 1 \
    --set hanoi.physics=fast --size 320x240 --every "${EVERY:-60}" --out "$out/hanoi.gif"
./memento render tests/domains/kitchen/reference_policy.py --domain kitchen --episode 1 --size 800x520 --at 29 \
    --out "$out/kitchen.png"
