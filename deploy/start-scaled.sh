#!/usr/bin/env bash
# Start the parts of deploy/compose.yaml without containers: two web processes and nginx, on the PostgreSQL and the
# Redis that .env names, and a worker of scans with CRAWLER_ENABLED=true, to try the layout on one machine. Ctrl-C
# stops them. Without a certificate, one is made.
#
#   deploy/start-scaled.sh          https://NAME:8443/, web processes on 8000 and 8001
#   HTTPS_PORT=443 HTTP_PORT=80 WEB_PORTS="9000 9001" CERTIFICATE=... CERTIFICATE_KEY=... deploy/start-scaled.sh
set -euo pipefail
cd "$(dirname "$0")/.."

: "${HTTPS_PORT:=8443}" "${HTTP_PORT:=8080}" "${WEB_PORTS:=8000 8001}"
folder=$PWD/var/scaled
CERTIFICATE=${CERTIFICATE:-$folder/certificate.pem}
CERTIFICATE_KEY=${CERTIFICATE_KEY:-$folder/certificate.key}
read -r first second <<<"$WEB_PORTS"
python=.venv/bin/python
nginx=$(PATH=$PATH:/usr/sbin command -v nginx) || { echo "Install nginx (Debian: apt install nginx-light)."; exit 1; } >&2

umask 077
mkdir -p "$folder"
facts=$($python - <<'PYTHON'
import os

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
from django.conf import settings

if "postgresql" not in settings.DATABASES["default"]["ENGINE"] or not settings.REDIS_URL:
    raise SystemExit("Several web processes need DATABASE_URL=postgres://... and REDIS_URL in .env.")
import redis

redis.Redis.from_url(settings.REDIS_URL).ping()
print(settings.ALLOWED_HOSTS[0], settings.CRAWLER_ENABLED)
PYTHON
)
read -r name scans <<<"$facts"
$python manage.py migrate --verbosity 0
$python manage.py collectstatic --no-input --verbosity 0
if [ ! -e "$CERTIFICATE" ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj "/CN=$name" \
    -addext "subjectAltName=DNS:$name" -keyout "$CERTIFICATE_KEY" -out "$CERTIFICATE" 2>/dev/null
fi
port=:$HTTPS_PORT user=$(id -un)
if [ "$HTTPS_PORT" = 443 ]; then port=; fi
sed -e "s/portal[.]example[.]com/$name/" -e "s/Host [$]host;/Host \$host$port;/" -e "s/^user .*/user $user;/" -e "s/# server /server /" \
  -e "s/127[.]0[.]0[.]1:8000/127.0.0.1:$first/" -e "s/127[.]0[.]0[.]1:8001/127.0.0.1:$second/" \
  -e "s/listen 80\b/listen $HTTP_PORT/" -e "s/listen 443\b/listen $HTTPS_PORT/" \
  -e "s|/etc/ssl/portal/fullchain.pem|$CERTIFICATE|" -e "s|/etc/ssl/portal/privkey.pem|$CERTIFICATE_KEY|" \
  -e "s|/run/nginx.pid|$folder/nginx.pid|" -e "s|/var/log/nginx/|$folder/|" \
  -e "s|^http {|http { client_body_temp_path $folder/bodies; proxy_temp_path $folder/responses; \
fastcgi_temp_path $folder/unused; uwsgi_temp_path $folder/unused; scgi_temp_path $folder/unused;|" \
  deploy/nginx.conf >"$folder/nginx.conf"

trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null; wait' EXIT
trap exit INT TERM
for port in "$first" "$second"; do
  TRUST_PROXY=true .venv/bin/gunicorn config.wsgi --bind "127.0.0.1:$port" &
done
if [ "$scans" = True ]; then
  $python manage.py crawl &
fi
"$nginx" -e "$folder/error.log" -c "$folder/nginx.conf" -g "daemon off;" &
for port in "$first" "$second"; do
  $python - "$port" <<'PYTHON'
import sys
import time
import urllib.request

for _ in range(120):
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/readyz", timeout=5)
        break
    except OSError as error:
        reason = error
        time.sleep(0.5)
else:
    raise SystemExit(f"The web process on port {sys.argv[1]} is not ready: {reason}")
PYTHON
done
echo "Serving https://$name:$HTTPS_PORT/ by web processes on ports $first and $second. Ctrl-C stops them."
wait -n
echo "A process has ended, so the others are stopped." >&2
exit 1
