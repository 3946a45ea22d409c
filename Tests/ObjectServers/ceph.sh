#!/usr/bin/env bash
# A real Ceph with its S3 gateway on the loopback interface, with everything in one directory; needs root and the Debian
# packages ceph-mon, ceph-osd, radosgw and curl.
#
# usage: ceph.sh DIRECTORY up [OSDS]      makes the cluster and the user "test", or starts it again; OSDS is 1 or 3
#        ceph.sh DIRECTORY down           stops it; the data stay
#        ceph.sh DIRECTORY stop NAME...   kills daemons: osd.0, rgw.0, rgw.1
#        ceph.sh DIRECTORY start NAME...  starts them again
#        ceph.sh DIRECTORY admin ARG...   runs radosgw-admin
#        ceph.sh DIRECTORY bucket NAME [lock]
#        ceph.sh DIRECTORY user NAME      makes a user who may not delete, with the keys NAMEaccess and NAMEsecret0123456789
#        ceph.sh DIRECTORY policy BUCKET FILE
# The gateways rgw.0 and rgw.1 answer at the ports CEPH_PORT (7480) and the next one. With three OSDs each object has three
# copies, and two must be there for a write.
set -euo pipefail
place=$(realpath -m "${1:?directory}") command=${2:?command}
shift 2
port=${CEPH_PORT:-7480}
export CEPH_CONF=$place/ceph.conf
key=testaccesskey secret=testsecretkey0123456789

. "$(dirname "$0")/daemons.sh"

start_one() (
    close_files
    case $1 in
        osd.*) ceph-osd -i "${1#osd.}" ;;
        rgw.*)
            this=$((port + ${1#rgw.}))
            radosgw -n client.rgw --pid-file "$place/run/$1.pid" --log-file "$place/log/$1.log" \
                --rgw-frontends "beast endpoint=127.0.0.1:$this tcp_nodelay=1"
            wait_for_port "$1" "$this" ;;
    esac
)

make_cluster() {
    mkdir -p "$place"/{run,log,mon,rgw}
    cat >"$place/ceph.conf" <<CONF
[global]
fsid = 5f3759df-0000-4000-8000-000000000001
mon host = [v2:127.0.0.1:$((port + 5820))/0]
mon initial members = a
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind port min = 16800
ms bind port max = 16899
keyring = $place/keyring
run dir = $place/run
log file = $place/log/\$name.log
crash dir = $place/log
osd pool default size = $1
osd pool default min size = $((($1 + 1) / 2))
osd pool default pg num = 8
osd pool default pgp num = 8
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon max pg per osd = 1000
[mon]
mon data = $place/mon
pid file = $place/run/\$name.pid
admin socket = $place/run/\$name.asok
mon cluster log file = $place/log/cluster.log
mon allow pool size one = true
mon warn on pool no redundancy = false
mon data avail warn = 2
mon data avail crit = 1
paxos propose interval = 0.05
paxos min wait = 0.01
auth allow insecure global id reclaim = false
[osd]
osd data = $place/osd\$id
pid file = $place/run/\$name.pid
admin socket = $place/run/\$name.asok
osd objectstore = bluestore
bluestore block size = 10737418240
bluestore fsck on mkfs = false
bluestore cache autotune = false
bluestore cache size = 67108864
osd heartbeat interval = 1
osd heartbeat grace = 4
[client.rgw]
rgw data = $place/rgw
rgw run sync thread = false
rgw exit timeout secs = 5
CONF
    local name
    ceph-authtool -C "$place/keyring" --gen-key -n mon. --cap mon 'allow *' >/dev/null
    for name in client.admin client.rgw $(seq -f osd.%g 0 $(($1 - 1))); do
        ceph-authtool "$place/keyring" --gen-key -n "$name" --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *'
    done
    monmaptool --create --clobber --fsid 5f3759df-0000-4000-8000-000000000001 \
        --addv a "[v2:127.0.0.1:$((port + 5820))/0]" "$place/monmap" >/dev/null
    ceph-mon --mkfs -i a --monmap "$place/monmap" --keyring "$place/keyring"
    echo "$1" >"$place/osds"
}

case $command in
    up)
        [ -e "$place/osds" ] || make_cluster "${1:-1}"
        ceph-mon -i a
        for number in $(seq 0 $(($(cat "$place/osds") - 1))); do
            if [ ! -e "$place/osd$number/ready" ]; then
                mkdir -p "$place/osd$number"
                id=$(cat /proc/sys/kernel/random/uuid)
                ceph osd new "$id" "$number"
                ceph-osd -i "$number" --mkfs --osd-uuid "$id"
            fi
            start_one "osd.$number"
        done >>"$place/log/start.log" 2>&1
        start_one rgw.0 >>"$place/log/start.log" 2>&1
        start_one rgw.1 >>"$place/log/start.log" 2>&1
        [ -e "$place/user" ] || radosgw-admin -n client.rgw user create --uid=test --display-name=test \
            --access-key="$key" --secret-key="$secret" >"$place/user" ;;
    down)
        # The gateways first: without OSDs, they wait for two minutes.
        end TERM "$place"/run/rgw.*.pid
        end TERM "$place"/run/osd.*.pid
        end TERM "$place"/run/mon.*.pid ;;
    stop) for name; do end KILL "$place/run/$name.pid"; done ;;
    start) for name; do start_one "$name" >>"$place/log/start.log" 2>&1; done ;;
    admin) radosgw-admin -n client.rgw "$@" ;;
    bucket)
        put_signed "$key" "$secret" "http://127.0.0.1:$port/$1" /dev/null \
            ${2:+-H "x-amz-bucket-object-lock-enabled: true"} ;;
    user)
        radosgw-admin -n client.rgw user create --uid="$1" --display-name="$1" --op-mask=read,write \
            --access-key="$1access" --secret-key="$1secret0123456789" >/dev/null ;;
    policy)
        put_signed "$key" "$secret" "http://127.0.0.1:$port/$1?policy=" "$2" --data-binary "@$2" ;;
    *) echo "unknown command $command" >&2; exit 2 ;;
esac
