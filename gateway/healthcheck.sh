#!/bin/bash
# Health check in pure bash: the image has no curl.
set -eu
exec 3<>"/dev/tcp/127.0.0.1/${GATEWAY_HEALTH_PORT:-8081}"
printf 'GET /health HTTP/1.0\r\n\r\n' >&3
head -n 1 <&3 | grep -q ' 200 '
