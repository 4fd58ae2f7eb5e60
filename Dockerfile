# The service. The sidecar has an image of its own (sidecar/Dockerfile); docker-compose.yml joins them.
FROM node:20.20.2-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY routes routes
COPY schemas schemas
RUN npm run build && npm prune --omit=dev

FROM node:20.20.2-bookworm-slim
ENV NODE_ENV=production IQA_HOST=0.0.0.0 IQA_PORT=3000 IQA_SPOOL_DIR=/spool
WORKDIR /app
RUN mkdir /spool && chown node:node /spool
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
COPY configs configs
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.IQA_PORT + '/health').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, so that SIGTERM reaches it and running requests are finished.
CMD ["node", "dist/src/server.js"]
