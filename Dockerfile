# The program in a container: docker build -t oltpsim . && docker run --rm oltpsim run v20z
# For reports and saved models: docker run --rm -v "$PWD:/work" oltpsim run v20z --report report.html
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
COPY . /source
WORKDIR /source
RUN python -m venv /opt/oltpsim \
    && /opt/oltpsim/bin/pip install --no-cache-dir --require-hashes --requirement requirements.lock \
    && /opt/oltpsim/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.13-slim
COPY --from=build /opt/oltpsim /opt/oltpsim
RUN useradd --create-home oltpsim && mkdir /work && chown oltpsim /work
USER oltpsim
WORKDIR /work
ENTRYPOINT ["/opt/oltpsim/bin/oltpsim"]
CMD ["--help"]
