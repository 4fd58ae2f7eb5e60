# The service. Sidecar and gateway have their own images (sidecar/Dockerfile, gateway/Dockerfile); docker-compose.yml runs all three.
# Bases are pinned by exact version; add their digests where you build.
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
# As in "npm start": with two malloc arenas the threads of libvips do not keep one each.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 IQA_HOST=0.0.0.0 IQA_PORT=3000 IQA_SPOOL_DIR=/spool
WORKDIR /app
# No package manager in the final image: an intruder cannot install anything.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-* \
  && install -d -o 1000 -g 1000 -m 700 /spool
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
COPY configs configs
# Numeric (the base image's user "node"), so that Kubernetes can check that it is not root.
USER 1000:1000
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.IQA_PORT + '/health').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Exec form: node is process 1, gets SIGTERM and can finish running requests.
CMD ["node", "dist/src/server.js"]
