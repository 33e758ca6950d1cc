# ray_cluster.sh - a real Ray cluster on this machine, for the scripts that source this: a head for drivers, and nodes with GPUs
# that are declared and not there.
#
#     . tests/live/ray_cluster.sh
#     ray_start DIR 3 2 || exit $?        # 3 nodes of 2 GPUs; logs in DIR. Sets ray_address; 77 where Ray cannot be had
#     ray_warm                            # one job, so that the next are alike
#     ray_node exit|lost|back ADDRESS     # what ray_node.sh does for --node-command
#     ray_settled 3                       # after that: until the head has 3 nodes again
#     ray_stop                            # what was started here, and nothing else
#
# Ray lies in a virtual environment below the user's cache. Ports are its own, sockets in a short path of their own. All of its
# processes carry a mark of this shell in their environment, by which they are found and ended; a shell that is killed is
# missed by a keeper, which ends them as well.
# Nodes are 127.0.0.11 and up: 127.0.0.1 Ray replaces by the machine's own address.
#
# SPDX-License-Identifier: GPL-3.0-or-later
ray_pins="ray[default,train]==2.60.0"
. "$(dirname "${BASH_SOURCE[0]}")/cache.sh"
ray_venv=$cache/venv/ray

ray_install() { cache_venv ray "$1/install.log" "$ray_pins"; } # DIR

ray_pids() { grep -lzs "^TRAINYARD_RAY=$1\$" /proc/[0-9]*/environ | cut -d/ -f3; }

ray_end() { # MARK FOLDER: SIGTERM, for what is left after 5 s SIGKILL
    local i
    for signal in TERM KILL; do
        for ((i = 0; i < 50; i++)); do
            set -- "$1" "$2" $(ray_pids "$1")
            [ $# -gt 2 ] || break 2
            [ $((i % 10)) != 0 ] || kill -$signal "${@:3}" 2>/dev/null
            sleep 0.1
        done
    done
    rm -rf "$2"
}

ray_run() { # LOG ARGUMENTS of `ray start`, in the background; its bin first in PATH: jobs' python3 is then Ray's
    local log=$1
    shift
    TRAINYARD_RAY=$ray_mark RAY_DISABLE_IMPORT_WARNING=1 PATH=$ray_venv/bin:$PATH setsid \
        "$ray_venv/bin/ray" start --block --disable-usage-stats --min-worker-port=0 --max-worker-port=0 "$@" \
        </dev/null >"$log" 2>&1 9>&- &
    disown
}

ray_alive() { # ADDRESSES... are all alive, as the head says
    curl -s "$ray_address/api/v0/nodes" 2>/dev/null | python3 -c 'import json, sys
alive = {n["node_ip"] for n in json.load(sys.stdin)["data"]["result"]["result"] if n["state"] == "ALIVE"}
sys.exit(not alive >= set(sys.argv[1:]))' "$@" 2>/dev/null
}

ray_wait() { # ADDRESSES...: until they are alive, 120 s
    local i
    for ((i = 0; i < 240; i++)); do
        ray_alive "$@" && return
        sleep 0.5
    done
    echo "the Ray cluster does not start: $(tail -1 "$ray_dir/head.log")" >&2
    return 1
}

ray_add() { # NUMBER: node 127.0.0.NUMBER
    ray_run "$ray_dir/node$1.log" --address=127.0.0.10:$ray_port --node-ip-address=127.0.0.$1 --num-cpus=0 \
        --num-gpus="$ray_gpus" --dashboard-agent-listen-port=$((ray_port + $1))
}

ray_start() { # DIR NODES GPUS
    local i
    export ray_dir=$1 ray_gpus=$3 ray_temp ray_port ray_mark
    ray_install "$1" || return
    ray_mark=$$.$RANDOM ray_temp=$(mktemp -d /tmp/ray.XXXXXX) ray_port=$((20000 + RANDOM % 10000))
    ray_address=http://127.0.0.1:$((ray_port + 1))
    mkfifo "$ray_temp/held"
    (trap '' INT TERM HUP; cat <"$ray_temp/held" >/dev/null; ray_end "$ray_mark" "$ray_temp") </dev/null >/dev/null 2>&1 &
    disown
    exec 9>"$ray_temp/held" # of this shell alone
    ray_run "$ray_dir/head.log" --head --node-ip-address=127.0.0.10 --port=$ray_port --dashboard-host=127.0.0.1 \
        --dashboard-port=$((ray_port + 1)) --ray-client-server-port=$((ray_port + 2)) --num-cpus=4 --num-gpus=0 \
        --dashboard-agent-listen-port=$((ray_port + 10)) --temp-dir="$ray_temp"
    ray_wait 127.0.0.10 || return
    for ((i = 1; i <= $2; i++)); do # one after the other: two at once look for the same sockets
        ray_add $((10 + i)) && ray_wait 127.0.0.$((10 + i)) || return
    done
}

ray_pids_on() { # ADDRESS: the node's raylet, and what hangs on it: agents, workers and their programs
    python3 - "$ray_mark" "$1" <<'PYTHON'
import os, sys
mark, argument = b"TRAINYARD_RAY=" + sys.argv[1].encode(), b"--node_ip_address=" + sys.argv[2].encode()
parent, raylet = {}, None
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        if mark not in open(f"/proc/{pid}/environ", "rb").read().split(b"\0"):
            continue
        words = open(f"/proc/{pid}/cmdline", "rb").read().split(b"\0")
        parent[pid] = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1]
    except OSError:
        continue  # it has ended meanwhile
    if words[0].endswith(b"/raylet") and argument in words:
        raylet = pid
def hangs_on_it(pid):
    while pid in parent and pid != raylet:
        pid = parent[pid]
    return pid == raylet
print(*filter(hangs_on_it, sorted(parent, key=lambda pid: pid != raylet)) if raylet else "")
PYTHON
}

# exit: Ray's container ends (SIGKILL to the raylet, with which its workers die) and is started again, as a kubelet does at once.
# lost: a machine that says nothing any more. back: it has been started again.
ray_node() { # exit|lost|back ADDRESS
    case $1 in
        exit)
            kill -KILL $(ray_pids_on "$2" | cut -d' ' -f1)
            ray_add "${2##*.}"
            ;;
        lost) kill -STOP $(ray_pids_on "$2") ;;
        back)
            kill -KILL $(ray_pids_on "$2") 2>/dev/null
            ray_add "${2##*.}"
            ;;
    esac
}

ray_settled() { # N: as many nodes with GPUs are alive and no one of them twice: after a play that took some away; 120 s
    local i
    for ((i = 0; i < 240; i++)); do
        curl -s "$ray_address/api/v0/nodes" | python3 -c 'import json, sys
alive = [n["node_ip"] for n in json.load(sys.stdin)["data"]["result"]["result"] if n["state"] == "ALIVE" and n["resources_total"].get("GPU")]
sys.exit(not (len(alive) == len(set(alive)) == int(sys.argv[1])))' "$1" 2>/dev/null && return
        sleep 0.5
    done
    return 1
}

ray_warm() { # a job that imports what drivers do: the first of a head takes twice as long
    local i id=warm-$RANDOM program="import ray, ray.train.v2.api.data_parallel_trainer; ray.init()"
    local job="{\"submission_id\": \"$id\", \"entrypoint\": \"python3 -c '$program'\"}"
    for ((i = 0; i < 60; i++)); do # until there is an agent, 30 s
        curl -sf -H "Content-Type: application/json" -d "$job" "$ray_address/api/jobs/" >/dev/null && break
        sleep 0.5
    done
    for ((i = 0; i < 120; i++)); do
        curl -s "$ray_address/api/jobs/$id" | grep -q '"status": "SUCCEEDED"' && return
        sleep 0.5
    done
    return 1
}

ray_stop() {
    [ -n "$ray_mark" ] || return
    ray_end "$ray_mark" "$ray_temp"
    exec 9>&-
    ray_mark=
}
