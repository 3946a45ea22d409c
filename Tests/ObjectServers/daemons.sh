# What the scripts that start servers share.

# Waits for the end of the process in a file of ids after a signal; kill -0 would take a zombie for a process.
end() {
    local signal=$1 file process
    shift
    for file in "$@"; do
        [ -e "$file" ] || continue
        process=$(cat "$file")
        kill "-$signal" "$process" 2>/dev/null || true
        while grep -qs '^State:.[^Z]' "/proc/$process/status"; do sleep 0.05; done
        rm -f "$file"
    done
}

# Closes the caller's files: whoever started the script waits for their end, and a daemon would keep them open.
close_files() {
    local file number
    for file in /proc/self/fd/*; do
        number=${file##*/}
        [ "$number" -le 2 ] || [ "$number" -eq 255 ] || eval "exec $number>&-"
    done
}

# Waits until something listens at a port: wait_for_port NAME PORT
wait_for_port() {
    for _ in $(seq 600); do
        (exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null && return
        sleep 0.1
    done
    echo "$1 does not answer" >&2
    return 1
}

# A signed PUT of S3: put_signed KEY SECRET URL FILE [ARGUMENT OF CURL...]
put_signed() {
    local key=$1 secret=$2 url=$3 file=$4
    shift 4
    # `--user` takes no colon in a key.
    curl -sS --fail-with-body --aws-sigv4 aws:amz:us-east-1:s3 \
        --netrc-file <(echo "machine 127.0.0.1 login $key password $secret") \
        -H "x-amz-content-sha256: $(sha256sum <"$file" | cut -c1-64)" -X PUT "$@" "$url"
}
