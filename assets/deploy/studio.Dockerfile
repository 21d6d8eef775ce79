# The studio with its pages. From the top of the repository:
#   docker build -f assets/deploy/studio.Dockerfile -t intent-studio .
# It keeps everything in /data, and needs that and /tmp to write. It has no users, so it listens to its
# own machine alone: run it in the network of the machine (network_mode: host).

FROM python:3.11-slim-bookworm AS installed
WORKDIR /source
RUN python -m venv --without-pip /opt/studio
COPY constraints.txt pyproject.toml README.md LICENSE NOTICE intent_studio.py ./
COPY app app
COPY assets assets
COPY core core
COPY intent_studio_client intent_studio_client
COPY storage storage
# torch without the libraries for graphics cards, which are fifteen times as large.
RUN pip --python /opt/studio/bin/python install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu -c constraints.txt ".[studio,maps,onnx]"

FROM python:3.11-slim-bookworm
COPY --from=installed /opt/studio /opt/studio
ENV PATH=/opt/studio/bin:$PATH PYTHONUNBUFFERED=1 STUDIO_HOME=/data HOME=/tmp NUMBA_CACHE_DIR=/tmp
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin studio && install -d -o 10001 -g 10001 /data
USER 10001:10001
VOLUME /data
EXPOSE 7860
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:7860/api/health/ready', timeout=2)"]
ENTRYPOINT ["intent-studio"]
CMD ["serve", "--port", "7860", "--no-browser"]
