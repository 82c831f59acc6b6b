# PostgreSQL, a process for each connection: pgbench with two kinds of queries, large rows both ways, a copy of the whole (pg_basebackup).
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need initdb postgres pgbench psql pg_basebackup
moves="0 8"
ordinary=
if [ "$(id -u)" -eq 0 ]; then
    command -v setpriv >/dev/null || skip "setpriv is not installed"
    ordinary="setpriv --reuid=65534 --regid=65534 --clear-groups"
    $ordinary test -x "$VIADUCT_BIN/viaduct" || skip "an ordinary user may not read $VIADUCT_BIN"
fi
export PGHOST=127.0.0.1 PGUSER=x PGDATABASE=postgres HOME=$work
serve() {
    chmod 777 "$work" . "$here/log"
    if [ ! -d ../first ]; then
        $ordinary initdb -D ../first -U x --no-sync --auth=trust --no-locale -E UTF8 >initdb 2>&1 || fail "initdb: $(tail -n 5 initdb)"
        chmod -R go= ../first
    fi
    cp -rp ../first data
    export PGPORT=$port
    background $ordinary $server "$(command -v postgres)" -D "$here/data" -p $port -c listen_addresses=127.0.0.1 -c fsync=off -c unix_socket_directories= -c max_wal_size=100MB
}
ready() { $ordinary psql -Atc 'select 1' >/dev/null 2>&1; }
leave() { end $pid INT; }
talk() {
    local ours="$ordinary $client"
    check made bench -i -s 1 -q
    check simple bench -c 4 -j 2 -t 100
    check select bench -S -c 4 -t 800 -M prepared
    check rows $ours psql -Atc "select i, repeat('x' || i, i % 3000) from generate_series(1, 3000) i"
    $ours psql -qAtc "create table t (i int, s text)" && data 2000000 | base64 -w 900 | awk '{ print NR "\t" $0 }' >rows
    check copied eval '$ours psql -qAtc "copy t from stdin" <rows && $ours psql -Atc "copy t to stdout" | cmp - rows && echo same'
    check error eval '$ours psql -Atc "select 1/0" -c "select 2" 2>&1'
    check backup eval '$ours pg_basebackup -c fast -D - -Ft -X fetch 2>/dev/null | tar t | sort | grep -vE "pg_wal/0|pg_internal|base/pgsql_tmp" | wc -l'
}
bench() { $ordinary $client pgbench "$@" 2>/dev/null | grep -E 'processed|failed'; [ "${PIPESTATUS[0]}" -eq 0 ]; }
combinations
