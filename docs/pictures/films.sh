#!/bin/sh
# Makes the gallery's films again. Run it from the root of the checkout, with the extra suites installed.
set -eu
film() {     # the file, the entry, its task, the episode of its figures, what else
    file=$1 entry=$2 task=$3 episode=$4
    shift 4
    ./memento render "gallery:$entry" --domain "$task" --seed 700000 --salt 5eed0000000000000000000000000001 \
        --episode "$episode" --out "docs/pictures/gallery-$file.gif" "$@"
}
film fetch-push fetch-push gym:FetchPush-v4 0 --size 200x200 --every 1
film fetch-push-fails fetch-push gym:FetchPush-v4 1 --size 200x200 --every 1 --set gym.perturb=heavy
film half-cheetah half-cheetah gym:HalfCheetah-v5 0 --size 320x180 --every 20
film half-cheetah-fails half-cheetah gym:HalfCheetah-v5 7 --size 320x180 --every 20 --set gym.perturb=heavy
film bipedal-walker bipedal-walker gym:BipedalWalker-v3 0 --size 280x188 --every 25
film bipedal-walker-fails bipedal-walker gym:BipedalWalker-v3 13 --size 280x188 --every 25
film key-corridor key-corridor gym:MiniGrid-KeyCorridorS3R3-v0 0 --size 192x192
film nut-assembly-square nut-assembly-square robosuite:NutAssemblySquare 0 --size 240x180 --every 8
film stack stack robosuite:Stack 0 --size 240x180 --every 4
film pusher pusher gym:Pusher-v5 0 --size 240x180 --every 1
film ant ant gym:Ant-v5 0 --size 256x144 --every 25
film ant-fails ant gym:Ant-v5 13 --size 256x144 --every 25 --set gym.perturb=heavy
film kitchen kitchen kitchen 0
film push-t push-t gym:gym_pusht/PushT-v0 7 --size 192x192 --every 1     # with the package gym-pusht
film tower tower hanoi 0 --size 240x180 --every 40
