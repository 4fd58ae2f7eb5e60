#!/bin/sh
# Renders nginx.conf from the environment and runs nginx. The tests use this script too.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
run=${GATEWAY_RUN_DIR:-/run/gateway}
upload_bytes=${IQA_MAX_UPLOAD_BYTES:-25000000}
certificate=${GATEWAY_CERTIFICATE:-/tls/fullchain.pem}
certificate_key=${GATEWAY_CERTIFICATE_KEY:-/tls/privkey.pem}

fail() {
  echo "The gateway cannot start: $1" >&2
  exit 1
}

case ${GATEWAY_TLS:-on} in
  on)
    mode=tls
    for file in "$certificate" "$certificate_key"; do
      [ -r "$file" ] || fail "Expected a readable file at $file for TLS; mount one, or set GATEWAY_TLS=off"
    done
    ;;
  off) mode=plain ;;
  *) fail "Expected on or off for GATEWAY_TLS but received \"$GATEWAY_TLS\"" ;;
esac
case $upload_bytes in
  '' | *[!0-9]*) fail "Expected an integer for IQA_MAX_UPLOAD_BYTES but received \"$upload_bytes\"" ;;
esac

# Same formula as computeBodyLimit in src/uploads/plugin.ts; a test compares them. Two files and 1 MB of fields; base64 adds a third.
body_bytes=$((((2 * upload_bytes + 1000000) * 4 + 2) / 3))

mkdir -p "$run"
sed \
  -e "s/^#$mode#//" -e '/^#\(tls\|plain\)#/d' \
  -e "s|@RUN@|$run|g" -e "s|@HERE@|$here|g" \
  -e "s|@BODY_BYTES@|$body_bytes|g" \
  -e "s|@UPSTREAM@|${GATEWAY_UPSTREAM:-service:3000}|g" \
  -e "s|@HTTP_PORT@|${GATEWAY_HTTP_PORT:-8080}|g" -e "s|@HTTPS_PORT@|${GATEWAY_HTTPS_PORT:-8443}|g" -e "s|@HEALTH_PORT@|${GATEWAY_HEALTH_PORT:-8081}|g" \
  -e "s|@CERTIFICATE@|$certificate|g" -e "s|@CERTIFICATE_KEY@|$certificate_key|g" \
  -e "s|@CONNECTIONS@|${GATEWAY_CONNECTIONS_PER_ADDRESS:-64}|g" \
  -e "s|@READ_TIMEOUT@|${GATEWAY_READ_TIMEOUT:-120s}|g" \
  -e "s|@ACCESS_LOG@|${GATEWAY_ACCESS_LOG:-/dev/stdout}|g" \
  "$here/nginx.conf.template" > "$run/nginx.conf"

exec nginx -p "$run" -c "$run/nginx.conf" -g 'daemon off;'
