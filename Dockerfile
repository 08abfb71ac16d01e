# The images of the product: `docker build --target gateway .` (or worker, simulator, operator). Each holds Node, the
# five libraries that Node needs, and one bundle: no shell, no package manager, no user but the one that runs it.

# Both stages must be of one distribution, and are: what runs is copied out of what built it.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
RUN npm install --global --ignore-scripts --no-fund --no-audit pnpm@11.28.11
# Packages first: this layer is made anew only when the lockfile changes.
COPY pnpm-lock.yaml pnpm-workspace.yaml .npmrc ./
RUN pnpm fetch
COPY package.json ./
COPY apps apps
COPY packages packages
COPY scripts scripts
RUN pnpm install --frozen-lockfile --offline && node scripts/bundle.ts && find dist -name '*.map' -delete
COPY infra/image infra/image
# A root file system of exactly what Node opens.
RUN set -eu; \
    node="$(command -v node)"; \
    install -D "$node" /runtime/usr/bin/node; \
    for library in $(ldd "$node" | grep -o '/[^ ]*'); do install -D "$library" "/runtime$library"; done; \
    mkdir -p /runtime/etc /runtime/app /runtime/home/nonroot /runtime/maps /runtime/secrets/postgres /runtime/secrets/redis \
      /runtime/secrets/gateway /runtime/secrets/worker /runtime/secrets/migrate /runtime/secrets/operator; \
    echo 'nonroot:x:65532:65532:nonroot:/home/nonroot:/usr/bin/false' > /runtime/etc/passwd; \
    echo 'nonroot:x:65532:' > /runtime/etc/group; \
    echo 'hosts: files dns' > /runtime/etc/nsswitch.conf; \
    echo '{"type":"module"}' > /runtime/app/package.json; \
    install -m 0444 infra/image/*.mjs /runtime/app/

FROM scratch AS runtime
LABEL org.opencontainers.image.version=2.0.0
COPY --from=build /runtime/usr /usr
COPY --from=build /runtime/lib /lib
# The loader of x86-64 lies here, that of arm64 in /lib.
COPY --from=build /runtime/lib6[4] /lib64
COPY --from=build /runtime/etc /etc
COPY --from=build --chown=65532:65532 /runtime/home/nonroot /tmp
COPY --from=build /runtime/app /app
ENV NODE_ENV=production HOME=/tmp PATH=/usr/bin
WORKDIR /app
USER 65532:65532
STOPSIGNAL SIGTERM
# Node itself refuses what a process of ours never does: starting programs, writing files, reading others than these.
ENTRYPOINT ["/usr/bin/node", "--disable-warning=ExperimentalWarning", "--permission", "--allow-fs-read=/app", "--allow-fs-read=/run", "--allow-fs-read=/proc", "--allow-fs-read=/etc/eloquentpoll", "--import=/app/end-on-signal.mjs", "--import=/app/secret-files.mjs"]

FROM runtime AS gateway
ARG GIT_COMMIT=
COPY --from=build /src/dist/gateway /app
ENV HOST=0.0.0.0 PORT=8080 OPS_HOST=0.0.0.0 OPS_PORT=9464 GIT_COMMIT=${GIT_COMMIT}
EXPOSE 8080 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["/usr/bin/node", "/app/healthcheck.mjs", "9464", "/readyz"]
CMD ["main.js"]

FROM runtime AS worker
ARG GIT_COMMIT=
COPY --from=build /src/dist/worker /app
ENV OPS_HOST=0.0.0.0 OPS_PORT=9464 GIT_COMMIT=${GIT_COMMIT}
EXPOSE 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["/usr/bin/node", "/app/healthcheck.mjs", "9464", "/readyz"]
CMD ["main.js"]

FROM runtime AS simulator
COPY --from=build /src/dist/simulator /app
ENV HOST=0.0.0.0 PORT=8081
EXPOSE 8081
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["/usr/bin/node", "/app/healthcheck.mjs", "8081", "/v1/models"]
CMD ["main.js"]

# One-shots: migrate.js before a release, open-account.js for a new customer, console.js for what operators do,
# make-secrets.js for a compose stack, cells.js for several installations.
FROM runtime AS operator
COPY --from=build /src/dist/operator /app
# A named volume takes the owner of the folder that it is first mounted on.
COPY --from=build --chown=65532:65532 /runtime/secrets /secrets
# Where `cells.js map --into /maps` writes: a volume.
COPY --from=build --chown=65532:65532 /runtime/maps /maps
ENTRYPOINT ["/usr/bin/node", "--permission", "--allow-fs-read=/app", "--allow-fs-read=/run", "--allow-fs-read=/secrets", "--allow-fs-write=/secrets", "--allow-fs-read=/maps", "--allow-fs-write=/maps", "--import=/app/end-on-signal.mjs", "--import=/app/secret-files.mjs"]
CMD ["migrate.js"]
