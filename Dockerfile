# The service. The sidecar has an image of its own (sidecar/Dockerfile), as has the gateway; docker-compose.yml joins them.
# Bases are pinned by exact version; their digests could not be looked up where this was written: add them where you build.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --include=dev --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY routes routes
COPY schemas schemas
RUN node_modules/.bin/tsc -p tsconfig.build.json && npm prune --omit=dev --no-audit --no-fund

FROM node:24.21.0-bookworm-slim
# As npm start has it: two arenas for malloc, or libvips' threads keep a memory each.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 IQA_HOST=0.0.0.0 IQA_PORT=3000 IQA_SPOOL_DIR=/spool
WORKDIR /app
# Nothing is installed from here on: whoever gets in finds no package manager.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-* \
  && install -d -o 1000 -g 1000 -m 700 /spool
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
COPY configs configs
# By number, so that Kubernetes can tell that it is not root; it is the base image's user "node".
USER 1000:1000
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.IQA_PORT + '/health').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, so that SIGTERM reaches it and running requests are finished.
CMD ["node", "dist/src/server.js"]
