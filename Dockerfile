# svc in a container: not as root, one volume at /data. "svc daemon unit --docker" prints a compose file.
FROM node:24-slim AS packages
WORKDIR /opt/svc
COPY package.json package-lock.json ./
COPY bin ./bin
RUN npm ci --omit=dev --loglevel=error && rm -r node_modules/node/node_modules

# The packages bring the only Node of the image, that of the tests. A second path to it is removed above.
FROM debian:bookworm-slim
WORKDIR /opt/svc
COPY --from=packages /opt/svc/node_modules ./node_modules
COPY . .
# Every account may make a store below /data: "docker run --user 4321".
RUN ln -s /opt/svc/bin/svc /usr/local/bin/svc \
  && useradd --uid 1000 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin svc \
  && install -d -m 1777 /data
USER svc
VOLUME /data
ENV SVC_DATA_DIR=/data/svc SVC_HTTP_HOST=0.0.0.0 SVC_SMTP_INBOUND_HOST=0.0.0.0 SVC_SMTP_INBOUND_PORT=2525
EXPOSE 4025 2525
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["/opt/svc/bin/svc", "status", "--wait", "--timeout", "5s"]
ENTRYPOINT ["/opt/svc/bin/svc"]
CMD ["daemon"]
