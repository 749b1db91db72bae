# The dashboard in a container: docker build -t calib . && docker run --rm -p 127.0.0.1:8501:8501 calib
# With a folder of predictions: add -v "$PWD/predictions:/data:ro" -e CALIB_DATA=/data (docs/deploy.md).
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
COPY requirements.txt constraints.txt ./
RUN pip install --requirement requirements.txt
COPY . .
RUN pip install --no-deps . && useradd --create-home --uid 1000 calib

# Files that people upload are untrusted: nothing here runs as root.
USER 1000
WORKDIR /srv
EXPOSE 8501
# Below a path (--base-path) the root is no page: any answer but an error of the server will do.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import http.client as http; at = http.HTTPConnection('localhost', 8501, timeout=4); at.request('GET', '/'); exit(at.getresponse().status >= 500)"]
ENTRYPOINT ["calib", "app", "--address", "0.0.0.0", "--port", "8501", "--headless"]
