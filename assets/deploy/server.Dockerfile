# The model server: answers by one bundle over HTTP, without torch. From the top of the repository:
#   docker build -f assets/deploy/server.Dockerfile -t intent-studio-server .
# It serves /models/model.zip, asks for the key in INTENT_STUDIO_API_KEY, and needs /tmp alone to write.

FROM python:3.11-slim-bookworm AS installed
WORKDIR /source
RUN python -m venv --without-pip /opt/server
COPY constraints.txt pyproject.toml README.md LICENSE NOTICE intent_studio.py ./
COPY app app
COPY core core
COPY intent_studio_client intent_studio_client
RUN pip --python /opt/server/bin/python install --no-cache-dir -c constraints.txt ".[serve]"

FROM python:3.11-slim-bookworm
COPY --from=installed /opt/server /opt/server
ENV PATH=/opt/server/bin:$PATH PYTHONUNBUFFERED=1
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin server
USER 10001:10001
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8080/health/ready', timeout=2)"]
ENTRYPOINT ["intent-studio", "serve-model"]
CMD ["/models/model.zip", "--host", "0.0.0.0"]
