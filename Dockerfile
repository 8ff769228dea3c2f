# svc in a container: not as root, one volume at /data. "svc daemon unit --docker" prints a compose file.
FROM node:24-slim AS packages
WORKDIR /opt/svc
COPY package.json package-lock.json ./
COPY bin ./bin
RUN npm ci --omit=dev

FROM node:24-slim
WORKDIR /opt/svc
COPY --from=packages /opt/svc/node_modules ./node_modules
COPY . .
RUN install -d -o node -g node -m 700 /data
USER node
VOLUME /data
ENV SVC_DATA_DIR=/data SVC_HTTP_HOST=0.0.0.0 SVC_SMTP_INBOUND_HOST=0.0.0.0 SVC_SMTP_INBOUND_PORT=2525
EXPOSE 4025 2525
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["/opt/svc/bin/svc", "status", "--wait", "--timeout", "5s"]
ENTRYPOINT ["/opt/svc/bin/svc"]
CMD ["daemon"]
