#!/bin/bash
# stack.sh - starts and stops a real control plane with real controllers, on loopback, without containers.
#
#     tests/live/stack.sh start DIR [--owner PID] [heartbeats] [kwok] [kueue] [training-operator] [ray-operator]
#     tests/live/stack.sh stop DIR
#     tests/live/stack.sh sweep          stops the stacks whose owner has gone
#     tests/live/stack.sh able           77, and what is missing, where no stack can run
#
# DIR must not exist; it gets the certificates, the data, a log and a pid file a process, DIR/admin.kubeconfig and DIR/kubectl. etcd,
# kube-apiserver, kube-controller-manager and kube-scheduler always start; `start` returns when pods can be created, nodes
# are played (kwok) and the controllers asked for serve. Each stack takes a block of 20 ports of its own, so that several
# run side by side; which blocks are taken, and by whom, stands in a registry in TMPDIR. A process is stopped only when pid and
# time of start are those written down. `--owner`: the stack belongs to that process; `sweep`, and each `start`, stops
# what an owner that was killed left behind. `heartbeats`: nodes whose leases nobody renews are lost, after the short times of the
# stack profile `heartbeats`; without, no node is ever lost. Ends with 0, 1 (with the end of the log of what did not start), 2 usage.
#
# SPDX-License-Identifier: GPL-3.0-or-later
. "$(dirname "$0")/parts.sh"
registry=${TMPDIR:-/tmp}/trainyard-live.$(id -u)
first_port=14000 blocks=100 ports_a_block=20
# Places in a block.
declare -A place=([apiserver]=0 [etcd]=1 [etcd-peer]=2 [kube-controller-manager]=3 [kube-scheduler]=4 [kueue]=5 [kueue-health]=6
    [kueue-metrics]=7 [training-operator]=8 [training-health]=9 [training-metrics]=10 [ray-health]=11 [ray-metrics]=12)

fail() { echo "live: $*" >&2; [ -z "$starting" ] || stop_all; exit 1; }
port() { echo $(($(cat "$dir/ports") + place[$1])); }
k() { "$kubectl" --kubeconfig "$dir/admin.kubeconfig" "$@"; }

# When a process started, in clock ticks since boot; nothing where there is none (or a dead one not yet waited for).
began() { sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" {print $20}'; }

# ---- registry of port blocks

free_block() {
    local p
    for ((p = $1; p < $1 + ports_a_block; p++)); do (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null && return 1; done
    return 0
}

claim_ports() {
    local i base
    mkdir -p "$registry"
    for ((i = 0; i < blocks; i++)); do
        base=$((first_port + ports_a_block * (($$ + i) % blocks)))
        mkdir "$registry/$base" 2>/dev/null || continue
        free_block $base || { rmdir "$registry/$base"; continue; }
        echo "$dir" >"$registry/$base/dir" && echo $base >"$dir/ports"
        [ -z "$owner" ] || echo "$owner $(began "$owner")" >"$registry/$base/owner"
        return
    done
    fail "no block of ports is free from $first_port on; see $registry"
}

sweep() {
    local block pid start
    for block in "$registry"/*/; do
        [ -e "$block/owner" ] || continue
        read -r pid start <"$block/owner"
        [ "$(began "$pid")" = "$start" ] || (dir=$(cat "$block/dir") && stop_all)
    done
}

# ---- processes

run() { # NAME COMMAND...
    local name=$1
    shift
    setsid "$@" >"$dir/$name.log" 2>&1 </dev/null 9>&- &
    echo "$! $(began $!)" >"$dir/$name.pid"
}

alive() { # NAME
    local pid start
    [ -e "$dir/$1.pid" ] && read -r pid start <"$dir/$1.pid" && [ -n "$start" ] && [ "$(began "$pid")" = "$start" ]
}

# Waits until a command succeeds; gives up when the process dies or after a time.
await() { # NAME SECONDS COMMAND...
    local name=$1 until=$((SECONDS + $2))
    shift 2
    until "$@" >/dev/null 2>&1; do
        alive "$name" || { tail -n 20 "$dir/$name.log" >&2; fail "$name has ended; this is the end of $dir/$name.log"; }
        [ $SECONDS -lt $until ] || { tail -n 20 "$dir/$name.log" >&2; fail "$name does not answer; this is the end of $dir/$name.log"; }
        sleep 0.1
    done
}

stop_one() { # NAME
    local pid start i
    alive "$1" || { rm -f "$dir/$1.pid"; return; }
    read -r pid start <"$dir/$1.pid"
    kill "$pid" 2>/dev/null
    for ((i = 0; i < 50; i++)); do alive "$1" || break; sleep 0.1; done
    alive "$1" && kill -9 "$pid" 2>/dev/null
    rm -f "$dir/$1.pid"
}

stop_all() {
    local name base
    for name in ray-operator training-operator kueue kwok kube-scheduler kube-controller-manager kube-apiserver etcd; do stop_one $name; done
    base=$(cat "$dir/ports" 2>/dev/null) && rm -rf "${registry:?}/$base"
    rm -rf "$dir/etcd"
}

# ---- certificates

new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

certificate() { # NAME SUBJECT USAGE [SUBJECT-ALT-NAMES]
    new_key "$1.key" && openssl req -new -key "$1.key" -subj "$2" -out "$1.csr" || return
    { echo basicConstraints=CA:FALSE; echo keyUsage=digitalSignature; echo "extendedKeyUsage=$3"; [ -z "$4" ] || echo "subjectAltName=$4"; } >"$1.ext"
    openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -extfile "$1.ext" -out "$1.crt"
}

kubeconfig() { # USER: reaches the API server with its certificate
    cat >"$dir/$1.kubeconfig" <<EOF
apiVersion: v1
kind: Config
clusters: [{name: trainyard-live, cluster: {server: "https://127.0.0.1:$(port apiserver)", certificate-authority: $dir/pki/ca.crt}}]
users: [{name: $1, user: {client-certificate: $dir/pki/$1.crt, client-key: $dir/pki/$1.key}}]
contexts: [{name: trainyard-live, context: {cluster: trainyard-live, user: $1}}]
current-context: trainyard-live
EOF
}

certificates() {
    mkdir -p "$dir/pki" && cd "$dir/pki" || return
    openssl genrsa -traditional -out ca.key 2048 && openssl req -x509 -new -key ca.key -days 365 -subj /CN=trainyard-live -addext keyUsage=critical,keyCertSign,cRLSign \
        -addext subjectAltName=DNS:training-operator-ca -out ca.crt &&
        certificate server /CN=trainyard-live serverAuth DNS:localhost,DNS:kubernetes.default.svc,DNS:training-operator.kubeflow.svc,IP:127.0.0.1,IP:10.0.0.1 &&
        mkdir serving && cp server.crt serving/tls.crt && cp server.key serving/tls.key &&
        certificate admin /O=system:masters/CN=admin clientAuth &&
        certificate kube-controller-manager /CN=system:kube-controller-manager clientAuth &&
        certificate kube-scheduler /CN=system:kube-scheduler clientAuth &&
        openssl genrsa -out accounts.key 2048 && openssl rsa -in accounts.key -pubout -out accounts.pub
}

# ---- the control plane

start_etcd() {
    run etcd "$(part_path etcd)" --data-dir "$dir/etcd" --unsafe-no-fsync --name live \
        --listen-client-urls "http://127.0.0.1:$(port etcd)" --advertise-client-urls "http://127.0.0.1:$(port etcd)" \
        --listen-peer-urls "http://127.0.0.1:$(port etcd-peer)" --initial-advertise-peer-urls "http://127.0.0.1:$(port etcd-peer)" \
        --initial-cluster "live=http://127.0.0.1:$(port etcd-peer)"
}

start_apiserver() {
    run kube-apiserver "$(part_path kube-apiserver)" --etcd-servers="http://127.0.0.1:$(port etcd)" --secure-port="$(port apiserver)" \
        --bind-address=127.0.0.1 --advertise-address=127.0.0.1 --endpoint-reconciler-type=none --cert-dir="$dir/apiserver-certs" \
        --tls-cert-file="$dir/pki/server.crt" --tls-private-key-file="$dir/pki/server.key" --client-ca-file="$dir/pki/ca.crt" \
        --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$dir/pki/accounts.pub" \
        --service-account-signing-key-file="$dir/pki/accounts.key" --authorization-mode=RBAC --service-cluster-ip-range=10.0.0.0/16 \
        ${heartbeats:+--default-unreachable-toleration-seconds=6 --default-not-ready-toleration-seconds=6}
    await kube-apiserver 120 k get --raw /readyz
}

# Kubelets that are played by kwok send no heartbeats: nodes do not go NotReady, unless somebody else sends them.
start_kcm() {
    local grace=(--node-monitor-grace-period=87600h)
    [ -z "$heartbeats" ] || grace=(--node-monitor-grace-period=10s --node-monitor-period=1s)
    run kube-controller-manager "$(part_path kube-controller-manager)" --secure-port="$(port kube-controller-manager)" --bind-address=127.0.0.1 \
        --kubeconfig="$dir/kube-controller-manager.kubeconfig" --authentication-kubeconfig="$dir/kube-controller-manager.kubeconfig" \
        --authorization-kubeconfig="$dir/kube-controller-manager.kubeconfig" --cert-dir="$dir/kcm-certs" --leader-elect=false "${grace[@]}" \
        --service-account-private-key-file="$dir/pki/accounts.key" --root-ca-file="$dir/pki/ca.crt" --use-service-account-credentials=true
}

start_scheduler() {
    run kube-scheduler "$(part_path kube-scheduler)" --secure-port="$(port kube-scheduler)" --bind-address=127.0.0.1 --cert-dir="$dir/scheduler-certs" \
        --kubeconfig="$dir/kube-scheduler.kubeconfig" --authentication-kubeconfig="$dir/kube-scheduler.kubeconfig" \
        --authorization-kubeconfig="$dir/kube-scheduler.kubeconfig" --leader-elect=false
}

# ---- what may be added

start_kwok() {
    run kwok "$(part_path kwok)" --kubeconfig="$dir/admin.kubeconfig" --manage-all-nodes=true --config="$live_here/stages.yaml" \
        --node-lease-duration-seconds=0 # with leases a node that is made anew is at times left alone for ten seconds
    printf 'apiVersion: v1\nkind: Node\nmetadata: {name: live-probe, labels: {kubernetes.io/hostname: live-probe}}\n' | k apply -f - >/dev/null
    await kwok 60 k wait --for=condition=Ready --timeout=1s node/live-probe
    k delete node live-probe >/dev/null
}

# The objects of a module's folder as JSON, with what the API server is to call at a port of this machine instead of a Service.
objects_calling() { # FOLDER PORT NAME
    k kustomize "$1" | k annotate --local -f - -o json trainyard.live/part="$3" | python3 "$live_here/calls.py" "https://127.0.0.1:$2" "$dir/pki/ca.crt" "$3"
}

# It queues PyTorchJobs too where their operator was started before it.
# Rates and workers are those of the configuration that Kueue ships (config/components/manager).
start_kueue() {
    local files frameworks=batch/job
    files=$(part_files kueue)
    k get crd pytorchjobs.kubeflow.org >/dev/null 2>&1 && frameworks="batch/job, kubeflow.org/pytorchjob"
    objects_calling "$files/config/components/crd" "$(port kueue)" kueue | k apply --server-side -f - >"$dir/kueue-crds.log" || fail "Kueue's CRDs"
    await kube-apiserver 60 k wait --for=condition=Established --timeout=10s crd/workloads.kueue.x-k8s.io crd/clusterqueues.kueue.x-k8s.io
    k create namespace kueue-system >/dev/null
    cat >"$dir/kueue.yaml" <<EOF
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
health: {healthProbeBindAddress: "127.0.0.1:$(port kueue-health)"}
metrics: {bindAddress: "127.0.0.1:$(port kueue-metrics)"}
webhook: {host: 127.0.0.1, port: $(port kueue), certDir: $dir/pki/serving}
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
featureGates: {VisibilityOnDemand: false}
clientConnection: {qps: 50, burst: 100}
controller: {groupKindConcurrency: {Job.batch: 5, Pod: 5, Workload.kueue.x-k8s.io: 5, LocalQueue.kueue.x-k8s.io: 1, Cohort.kueue.x-k8s.io: 1,
  ClusterQueue.kueue.x-k8s.io: 1, ResourceFlavor.kueue.x-k8s.io: 1}}
integrations: {frameworks: [$frameworks]}
EOF
    # It looks for the certificate of its metrics in a folder that no flag changes: in a view of /etc of its own.
    run kueue "$live_here/private.sh" "$dir/private-kueue" /etc "kueue/metrics/certs=$dir/pki/serving" -- \
        env KUBECONFIG="$dir/admin.kubeconfig" "$(part_path kueue)" --config="$dir/kueue.yaml"
    await kueue 120 curl -sf "http://127.0.0.1:$(port kueue-health)/readyz"
    objects_calling "$files/config/components/webhook" "$(port kueue)" kueue | k apply --server-side -f - >"$dir/kueue-webhooks.log" || fail "Kueue's webhooks"
}

# The API server can call its webhook: it takes a job, and keeps it not.
takes_pytorch_jobs() {
    k create --dry-run=server -f - <<EOF
{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: probe, namespace: default}, spec: {pytorchReplicaSpecs: {Worker: {
  replicas: 1, template: {spec: {containers: [{name: pytorch, image: none}]}}}}}}
EOF
}

# It keeps its certificates in a Secret, whose files it waits for as a kubelet would mount them, and finds those given to be good (it reads
# RSA keys of the old format only). The Service that they are for stands for a port of this machine.
start_training_operator() {
    local files
    files=$(part_files training-operator)
    k apply --server-side -k "$files/manifests/base/crds" >"$dir/training-crds.log" || fail "the training operator's CRDs"
    await kube-apiserver 60 k wait --for=condition=Established --timeout=10s crd/pytorchjobs.kubeflow.org
    k apply -f - >/dev/null <<EOF || fail "the training operator's namespace"
{apiVersion: v1, kind: List, items: [
  {apiVersion: v1, kind: Namespace, metadata: {name: kubeflow}},
  {apiVersion: v1, kind: Service, metadata: {name: training-operator, namespace: kubeflow},
   spec: {type: ExternalName, externalName: localhost, ports: [{port: $(port training-operator)}]}}]}
EOF
    k -n kubeflow create secret generic training-operator-webhook-cert --from-file="$dir/pki/ca.crt" --from-file="$dir/pki/ca.key" \
        --from-file="$dir/pki/serving/tls.crt" --from-file="$dir/pki/serving/tls.key" >/dev/null || fail "the training operator's certificates"
    k kustomize "$files/manifests/base/webhook" |
        sed -e 's/namespace: system/namespace: kubeflow/' -e "s/^\( *\)path: \/validate/\1port: $(port training-operator)\n&/" |
        k apply -f - >/dev/null || fail "the training operator's webhooks"
    run training-operator "$live_here/private.sh" "$dir/private-training" /tmp "k8s-webhook-server/serving-certs=$dir/pki/serving" -- \
        env TMPDIR=/tmp KUBECONFIG="$dir/admin.kubeconfig" MY_POD_NAMESPACE=kubeflow \
        "$(part_path training-operator)" --enable-scheme=pytorchjob --webhook-server-port="$(port training-operator)" \
        --metrics-bind-address="127.0.0.1:$(port training-metrics)" --health-probe-bind-address="127.0.0.1:$(port training-health)"
    await training-operator 120 curl -sf "http://127.0.0.1:$(port training-health)/readyz"
    await training-operator 60 takes_pytorch_jobs # its webhooks serve a little later than it says
}

start_ray_operator() {
    k apply --server-side -k "$(part_files ray-operator)/config/crd" >"$dir/ray-crds.log" || fail "KubeRay's CRDs"
    await kube-apiserver 60 k wait --for=condition=Established --timeout=10s crd/rayclusters.ray.io crd/rayjobs.ray.io
    run ray-operator env KUBECONFIG="$dir/admin.kubeconfig" "$(part_path ray-operator)" --enable-leader-election=false \
        --metrics-addr="127.0.0.1:$(port ray-metrics)" --health-probe-bind-address="127.0.0.1:$(port ray-health)"
    await ray-operator 60 curl -sf "http://127.0.0.1:$(port ray-health)/readyz"
}

start() {
    local part
    [ "$1" != heartbeats ] || { heartbeats=1; shift; }
    for part in etcd kube-apiserver kube-controller-manager kube-scheduler kubectl "$@"; do
        [ -x "$(part_path "$part")" ] || fail "$part is not built: tests/live/build.sh"
    done
    mkdir "$dir" 2>/dev/null || fail "$dir cannot be made, or exists"
    starting=1 kubectl=$(part_path kubectl)
    exec 9>"$registry.lock" && flock 9
    sweep
    claim_ports
    flock -u 9
    (certificates) >"$dir/certificates.log" 2>&1 || fail "no certificates: $dir/certificates.log"
    for part in admin kube-controller-manager kube-scheduler; do kubeconfig $part; done
    ln -s "$kubectl" "$dir/kubectl"
    start_etcd
    start_apiserver
    start_kcm
    start_scheduler
    await kube-controller-manager 60 k get serviceaccount default
    for part; do "start_${part//-/_}"; done
}

# Tools, and a mount namespace of one's own for controllers that look in fixed places.
able() {
    local tool scratch why code
    for tool in curl openssl unshare flock python3; do
        command -v $tool >/dev/null || { echo "live: $tool is not installed" >&2; return 77; }
    done
    scratch=$(mktemp -d) || return 77
    why=$("$live_here/private.sh" "$scratch" /etc -- true 2>&1)
    code=$?
    rmdir "$scratch"
    [ $code = 0 ] && return
    echo "live: no mount namespace of one's own: $(tail -n 1 <<<"$why")" >&2
    return 77
}

command=$1
shift
case $command in
    start | stop)
        [ -n "$1" ] || { sed -n '4,7s/^# *//p' "$0" >&2; exit 2; }
        dir=$(realpath -m "$1") owner= heartbeats=
        shift
        ;;
    sweep | able) ;;
    *) sed -n '4,7s/^# *//p' "$0" >&2; exit 2 ;;
esac
[ "$1" = --owner ] && owner=$2 && shift 2
case $command in
    start) start "$@" ;;
    stop) stop_all ;;
    sweep) sweep ;;
    able) able ;;
esac
