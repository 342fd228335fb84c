# onceproof with all that a run needs: brokers, proxies and a database as processes, Spark, a JDK.
#
#   docker build --tag onceproof .
#   docker run --rm --volume "$PWD:/work" onceproof verify --output enriched -- \
#       python3 job.py {bootstrap} {input} enriched
#
# It needs no privileges and no Docker socket. docs/how-to/run-in-a-container.md says more.

# A Debian or Ubuntu with Python 3.11 or newer among its packages.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS base
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
        libnss-wrapper openjdk-17-jdk-headless procps python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
ENV ONCEPROOF_CACHE=/opt/onceproof/cache \
    PYTHONDONTWRITEBYTECODE=1

FROM base AS built
COPY . /opt/onceproof
RUN cd /opt/onceproof \
    && python3 harness/tools/bootstrap.py --run \
    && .venv/bin/python -m onceproof.harness.tools setup \
    && .venv/bin/python -m compileall -q src harness checkers scenarios reports .venv

FROM base
COPY --from=built /opt/onceproof /opt/onceproof
RUN useradd --create-home --uid 1000 onceproof && mkdir /work && chown onceproof /work
# A program on trial finds the clients that onceproof itself uses.
ENV PATH=/opt/onceproof/.venv/bin:$PATH \
    HOME=/tmp
USER onceproof
WORKDIR /work
ENTRYPOINT ["/opt/onceproof/harness/tools/container.sh"]
