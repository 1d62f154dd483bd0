#!/bin/sh
# PostgreSQL, Redis and two web processes, each on a port of its own, under signed load: what a request costs
# each of them, that no nonce is good twice, and the capacity that follows. Nothing outlives the run.
#   benchmarks/scaled_layout.sh [--scale 0.05] [--json]
set -eu
cd "$(dirname "$0")/.."

postgresql=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$postgresql" ] || postgresql=$(pg_config --bindir 2>/dev/null) || true
[ -x "$postgresql/initdb" ] || { echo "PostgreSQL's server is needed: apt install postgresql" >&2; exit 1; }
command -v redis-server >/dev/null || { echo "Redis is needed: apt install redis-server" >&2; exit 1; }

free_port() {
	.venv/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

scratch=$(mktemp -d)
# PostgreSQL refuses to run as root.
if [ "$(id -u)" = 0 ]; then
	chown postgres "$scratch"
	as_owner() { runuser -u postgres -- "$@"; }
else
	as_owner() { "$@"; }
fi

redis=
stop() {
	[ -z "$redis" ] || kill "$redis" 2>/dev/null || true
	as_owner "$postgresql/pg_ctl" -D "$scratch/records" -m immediate stop >/dev/null 2>&1 || true
	rm -rf "$scratch"
}
trap stop EXIT
trap 'exit 1' INT TERM

postgresql_port=$(free_port)
as_owner "$postgresql/initdb" -D "$scratch/records" -U postgres -A trust -E UTF8 --locale=C.UTF-8 >/dev/null
as_owner "$postgresql/pg_ctl" -D "$scratch/records" -l "$scratch/postgresql.log" -w \
	-o "-p $postgresql_port -c listen_addresses=127.0.0.1 -c unix_socket_directories=" start >/dev/null

redis_port=$(free_port)
redis-server --port "$redis_port" --bind 127.0.0.1 --save '' --dir "$scratch" >/dev/null &
redis=$!

BENCHMARK_POSTGRESQL="postgres://postgres@127.0.0.1:$postgresql_port" \
BENCHMARK_REDIS="redis://127.0.0.1:$redis_port/0" \
	.venv/bin/python -m benchmarks.scaled_layout "$@"
