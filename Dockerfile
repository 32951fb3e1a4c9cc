# MEMENTO with the arm, compiled kitchens, comparisons and films. Inside, `memento doctor` shows which isolation layers
# the container allows: see docs/installing.md.
#
#   docker build -t memento .
#   docker run --rm -it -v "$PWD/runs:/data/runs" memento run hanoi

FROM python:3.12-slim-bookworm AS wheel
WORKDIR /source
COPY . .
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim-bookworm
# A renderer without a display, for `memento render`. Everything else comes as wheels.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libosmesa6 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 memento \
    && install --directory --owner memento /data
COPY --from=wheel /wheels /wheels
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# hadolint ignore=DL3013
RUN wheel=$(echo /wheels/memento_evolve-*.whl) \
    && python -m pip install --no-cache-dir "${wheel}[robosuite,cell,kitchen,compare,mujoco,video]"
# A program is untrusted also here: the container's user is not root.
USER 1000
WORKDIR /data
ENV MUJOCO_GL=osmesa
ENTRYPOINT ["memento"]
CMD ["--help"]
