#!/bin/bash
# kubernetes.sh - run --on kubernetes against a real control plane on bad days: a clear error or the run goes on; afterwards
# nothing carries the run's label, and nothing else was touched.
#
#     tests/live/kubernetes.sh TRAINYARD [KILLS [PODS]]       default: 50 kills at random moments, 10,000 pods watched
#
# Starts a stack of its own (stack.sh: etcd, kube-apiserver, controller-manager, scheduler, kwok, Kueue) and stops it. Bystanders (a job,
# a queue, a flavor, a config map, a secret) are compared before and after: UID, generation, labels, annotations, owners. The
# last line counts. RANDOM_SEED fixes the moments of the kills. Ends with 77 where no stack can be had.
#
# SPDX-License-Identifier: GPL-3.0-or-later
here=$(cd "$(dirname "$0")" && pwd)
trainyard=$(realpath "${1:-bin/trainyard}") kills=${2:-50} pods=${3:-10000}
RANDOM=${RANDOM_SEED:-1}
"$here/stack.sh" able || exit
work=$(mktemp -d "${TMPDIR:-/tmp}/trainyard-kubernetes.XXXXXX") || exit 1
stack=$work/stack config=$work/stack/admin.kubeconfig context=trainyard-live
passed=0 failed=0 skipped=0
"$here/build.sh" etcd kube-apiserver kubectl kube-controller-manager kube-scheduler kwok kueue || { code=$?; rm -rf "$work"; exit $code; }
"$here/stack.sh" start "$stack" --owner $$ kwok kueue || exit 1
. "$here/parts.sh"
kubectl=$(part_path kubectl)
trap '"$here/stack.sh" stop "$stack"; [ $failed = 0 ] && rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
k() { "$kubectl" --kubeconfig "$config" "$@"; }

ok() { passed=$((passed + 1)); echo "ok $1"; }
not_ok() { failed=$((failed + 1)); echo "not ok $1: $2"; sed 's/^/    /' "$work/out" | tail -5; }
run() { "$trainyard" run "$@" >"$work/out" 2>&1; }                       # anything
play() { run "$1" --on kubernetes --context $context --kubeconfig "$config" -q -F -o "$2"; }
cleanup() { "$trainyard" run --on kubernetes --context $context --kubeconfig "$config" --cleanup -o "$1" >"$work/out" 2>&1; }

# NAME, exit code, pattern, arguments: the error is the one expected.
expect() {
    local name=$1 code=$2 pattern=$3
    shift 3
    run "$@"
    local got=$?
    [ $got = "$code" ] || { not_ok "$name" "exit $got, not $code"; return; }
    grep -q -- "$pattern" "$work/out" || { not_ok "$name" "no \"$pattern\""; return; }
    ok "$name"
}

# ---- what is there

kinds=$(k api-resources --verbs=list -o name | grep -vE '^(events|leases|endpoints|endpointslices|componentstatuses|pods|nodes)(\.|$)' | sort)
everything() { # of all kinds but those that live by themselves: what a stranger's hand would change
    local kind
    for kind in $kinds; do
        k get "$kind" -A -o go-template="{{range .items}}$kind {{.metadata.namespace}} {{.metadata.name}} {{.metadata.uid}} {{.metadata.generation}} {{.metadata.labels}} {{.metadata.annotations}} {{.metadata.ownerReferences}}
{{end}}" 2>/dev/null
    done | grep -vE '^(apiservices|flowschemas|prioritylevelconfigurations|ipaddresses)' | sort
}
labelled() { # whatever carries any run's label, pods, workloads and namespaces among them
    local kind
    for kind in $kinds pods; do k get "$kind" -A -l trainyard/run -o name 2>/dev/null; done
    k get ns -o name | grep '^namespace/trainyard-'
}
nothing_left() { # NAME
    local left
    left=$(labelled)
    [ -z "$left" ] && return 0
    echo "$left" >"$work/out"
    not_ok "$1" "left with a label: $(echo "$left" | wc -l)"
    return 1
}

cat >"$work/bystanders.yaml" <<'EOF'
apiVersion: v1
kind: Namespace
metadata: {name: bystander}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: mine, namespace: bystander, labels: {app: x}}
---
apiVersion: v1
kind: Secret
metadata: {name: mine, namespace: bystander}
stringData: {a: b}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: mine}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: mine}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: mine, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: first, namespace: bystander}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}
EOF
k apply -f "$work/bystanders.yaml" >/dev/null || exit 1

# Two jobs, Kueue, a script that holds the queue; about six seconds.
scenario() { # QUEUE
    cat <<EOF
{ "trainyard": 1, "name": "bad day", "cluster": { "nodes": [{ "group": "g", "count": 2, "gpus": 8 }] },
  "queues": [{ "name": "$1", "quota": 16 }],
  "workload": { "jobs": [{ "id": "first", "kind": "Job", "replicas": 2, "gpus": 4, "duration": "20s", "queue": "$1" },
                         { "id": "second", "kind": "Job", "replicas": 2, "gpus": 8, "duration": "10s", "submit": "5s", "queue": "$1" }] },
  "faults": { "script": [{ "at": "8s", "target": "queue/$1", "action": "hold", "value": 1 }, { "at": "15s", "target": "queue/$1", "action": "hold", "value": 0 },
                         { "at": "18s", "target": "queue/$1", "action": "set-quota", "value": 24 }] },
  "live": { "time_scale": 5 }, "approaches": { "a": { "lifecycle": "batch-job", "admission": "kueue" } } }
EOF
}
scenario runs >"$work/scenario.json"
scenario mine >"$work/taken.json"
"$trainyard" export "$work/scenario.json" --to manifests -o "$work/objects" && k apply -f "$work/objects/nodes.yaml" >/dev/null || exit 1
sleep 3
everything >"$work/before"
live=(run "$work/scenario.json" --on kubernetes)
live=("${live[@]:1}")

# ---- errors before anything is made

expect "no such file" 3 "cannot open" "${live[@]}" --context $context --kubeconfig "$work/none" -o "$work/r"
expect "no such context" 3 "there is no context" "${live[@]}" --context elsewhere --kubeconfig "$config" -o "$work/r"
echo "clusters: [" >"$work/broken"
expect "a torn kubeconfig" 3 "broken:" "${live[@]}" --context $context --kubeconfig "$work/broken" -o "$work/r"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key" -out "$work/ca" -days 1 -subj /CN=other 2>/dev/null
server=$(k config view -o jsonpath='{.clusters[0].cluster.server}')
kubeconfig() { # USER: one line of YAML; CA
    cat <<EOF
clusters: [{name: c, cluster: {server: "$server", certificate-authority: $2}}]
users: [{name: u, user: $1}]
contexts: [{name: x, context: {cluster: c, user: u}}]
EOF
}
ca=$(k config view --raw -o jsonpath='{.clusters[0].cluster.certificate-authority}')
kubeconfig "{token: abc}" "$work/ca" >"$work/wrong-ca"
expect "another cluster's certificate" 4 "is this the right cluster" "${live[@]}" --context x --kubeconfig "$work/wrong-ca" -o "$work/r"
kubeconfig "{token: eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjF9.AAAA}" "$ca" >"$work/expired"
expect "an expired token" 4 "401 Unauthorized" "${live[@]}" --context x --kubeconfig "$work/expired" -o "$work/r"
k create serviceaccount nobody -n bystander >/dev/null
kubeconfig "{token: $(k create token nobody -n bystander)}" "$ca" >"$work/nobody"
expect "no permission" 4 "403 Forbidden" "${live[@]}" --context x --kubeconfig "$work/nobody" -o "$work/r"
k create clusterrolebinding nobody --clusterrole=view --serviceaccount=bystander:nobody >/dev/null
expect "permission to read only" 4 "403 Forbidden" "${live[@]}" --context x --kubeconfig "$work/nobody" -o "$work/r"
k delete clusterrolebinding nobody >/dev/null
k delete serviceaccount nobody -n bystander >/dev/null
expect "a name that is taken" 4 "is not this run's" "$work/taken.json" --on kubernetes --context $context --kubeconfig "$config" -q -F -o "$work/r"
expect "a dry run" 0 "GPUs held by all jobs together: 24" "${live[@]}" --context $context --kubeconfig "$config" --dry-run
nothing_left "after errors" && ok "nothing left after errors"

# ---- a good day

if play "$work/scenario.json" "$work/good" && grep -q ',"*second"*,running' "$work/good/phases.csv" && [ "$(grep -c succeeded "$work/good/jobs.csv")" = 2 ]; then
    nothing_left "a good day" && ok "a good day"
else
    not_ok "a good day" "exit $?"
fi

# ---- in mid-run

# The token's account is deleted while the run goes on.
k create serviceaccount owner -n bystander >/dev/null
k create clusterrolebinding owner --clusterrole=cluster-admin --serviceaccount=bystander:owner >/dev/null
kubeconfig "{token: $(k create token owner -n bystander)}" "$ca" >"$work/owner"
(sleep 3; k delete serviceaccount owner -n bystander >/dev/null; k delete clusterrolebinding owner >/dev/null) &
expect "the token dies in mid-run" 4 "401 Unauthorized\|403 Forbidden" "${live[@]}" --context x --kubeconfig "$work/owner" -q -F -o "$work/dies"
wait $!
if cleanup "$work/dies"; then nothing_left "cleaned up by another account" && ok "cleaned up by another account"; else not_ok "cleaned up by another account" "cleanup failed"; fi

# ---- the account of a pod

# Certificate, namespace and token of a real ServiceAccount lie where a kubelet mounts them, in a view of the files of one's own.
place=/var/run/secrets/kubernetes.io/serviceaccount account=$work/account
mkdir "$account"
k get configmap kube-root-ca.crt -n bystander -o jsonpath='{.data.ca\.crt}' >"$account/ca.crt"
printf bystander >"$account/namespace"
in_pod() {
    "$here/private.sh" "$work/private" /var/run "${place#/var/run/}=$account" -- \
        env KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT="${server##*:}" "$@" >"$work/out" 2>&1
}
play_in_pod() { in_pod "$@" "$trainyard" run "$work/scenario.json" --on kubernetes --context in-cluster -q -F -o "$work/pod"; }
serviceaccount() { # NAME [ROLE]
    k create serviceaccount "$1" -n bystander >/dev/null
    [ -z "$2" ] || k create clusterrolebinding "$1" --clusterrole="$2" --serviceaccount="bystander:$1" >/dev/null
    k create token "$1" -n bystander >"$account/token"
}
if in_pod true; then
    serviceaccount stranger
    play_in_pod
    code=$?
    if [ $code = 4 ] && grep -q "403 Forbidden.*system:serviceaccount:bystander:stranger" "$work/out"; then ok "a pod's account without rights"; else not_ok "a pod's account without rights" "exit $code"; fi
    serviceaccount pod cluster-admin
    play_in_pod
    code=$?
    if [ $code = 0 ] && [ "$(grep -c succeeded "$work/pod/jobs.csv")" = 2 ]; then nothing_left "a pod's account" && ok "a pod's account"; else not_ok "a pod's account" "exit $code"; fi
    # The token is replaced, by a rename as kubelets do, and the old one is worth nothing from then on (servers remember a token for seconds: so its
    # account loses its rights, too).
    cp "$account/token" "$work/first"
    serviceaccount pod2 cluster-admin
    cp "$account/token" "$work/second" && cp "$work/first" "$account/token"
    play_in_pod bash -c '(sleep 2.5; cp "$1" "$2/new" && mv "$2/new" "$2/token"; "$3" --kubeconfig "$4" delete clusterrolebinding/pod serviceaccount/pod -n bystander >/dev/null) & shift 4; exec "$@"' \
        rotate "$work/second" "$place" "$kubectl" "$config"
    code=$?
    gone=$(k get serviceaccount pod -n bystander -o name --ignore-not-found)
    if [ $code = 0 ] && [ -z "$gone" ] && [ "$(grep -c succeeded "$work/pod/jobs.csv")" = 2 ]; then
        nothing_left "a pod's token is replaced" && ok "a pod's token is replaced in mid-run: the run goes on"
    else
        not_ok "a pod's token is replaced" "exit $code"
    fi
    k delete clusterrolebinding pod2 >/dev/null
    k delete serviceaccount stranger pod2 -n bystander >/dev/null
else
    skipped=$((skipped + 3))
    echo "skipped the account of a pod: no view of /var/run of one's own: $(tail -n 1 "$work/out")"
fi

# The API server is killed without a word and comes back after six seconds.
apiserver=$(cut -d' ' -f1 "$stack/kube-apiserver.pid")
mapfile -d '' -t command <"/proc/$apiserver/cmdline"
(sleep 2.5; kill -9 "$apiserver"; sleep 6; cd "$stack" && exec "${command[@]}" >>"$stack/kube-apiserver.log" 2>&1) &
restarted=$!
play "$work/scenario.json" "$work/killed"
code=$?
if [ $code = 0 ] && [ "$(grep -c succeeded "$work/killed/jobs.csv")" = 2 ]; then
    nothing_left "the API server is killed" && ok "the API server is killed and comes back: the run goes on"
else
    not_ok "the API server is killed" "exit $code"
fi

# Somebody writes to the run's queue and jobs all the time.
(while k get ns -o name >/dev/null 2>&1 && [ ! -e "$work/calm" ]; do
    for what in clusterqueue/runs; do k annotate --overwrite $what storm=$RANDOM >/dev/null 2>&1; done
    k annotate --overwrite jobs -A -l trainyard/run storm=$RANDOM >/dev/null 2>&1
done) &
storm=$!
play "$work/scenario.json" "$work/storm"
code=$?
touch "$work/calm"; wait $storm
if [ $code = 0 ] && [ "$(grep -c succeeded "$work/storm/jobs.csv")" = 2 ]; then nothing_left "a storm of conflicts" && ok "a storm of conflicts"; else not_ok "a storm of conflicts" "exit $code"; fi

# Many pods with the run's label, in its namespace, made by others; the client sees them come and go and stays small.
sed 's/"duration": "20s"/"duration": "900s"/; s/"count": 2/"count": 2/' "$work/scenario.json" >"$work/long.json"
"$trainyard" run "$work/long.json" --on kubernetes --context $context --kubeconfig "$config" -q -F -o "$work/many" >"$work/out" 2>&1 &
client=$!
for _ in $(seq 100); do [ -e "$work/many/kubernetes.json" ] && k get ns -o name | grep -q trainyard- && break; sleep 0.2; done
id=$(sed -n 's/.*"run": "\(.*\)".*/\1/p' "$work/many/kubernetes.json")
sleep 2
crowd() { # from, to
    local i
    for ((i = $1; i < $2; i++)); do
        printf -- '---\napiVersion: v1\nkind: Pod\nmetadata: {name: crowd-%d, namespace: trainyard-%s, labels: {trainyard/run: %s, trainyard/job: first}}\n' $i "$id" "$id"
        printf 'spec: {schedulerName: nobody, containers: [{name: c, image: i}]}\n'
    done | k create -f - >/dev/null 2>&1
}
for part in 0 1 2 3; do crowd $((pods * part / 4)) $((pods * (part + 1) / 4)) & crowds[part]=$!; done
wait "${crowds[@]}"
for _ in $(seq 60); do seen=$(grep -c 'pod-created,Pod,crowd-' "$work/many/phases.csv"); [ "$seen" -ge "$pods" ] && break; sleep 1; done
memory=$(awk '/VmHWM/ {print int($2 / 1024)}' "/proc/$client/status")
kill -INT $client
wait $client
code=$?
if [ "$seen" = "$pods" ] && [ $code = 130 ] && [ "${memory:-999}" -lt 200 ]; then
    nothing_left "$pods pods watched" && ok "$pods pods watched in at most $memory MB, interrupted, cleaned up"
else
    not_ok "$pods pods watched" "seen $seen, exit $code, $memory MB"
fi

# ---- killed at random

left=0
for ((i = 0; i < kills; i++)); do
    "$trainyard" run "$work/scenario.json" --on kubernetes --context $context --kubeconfig "$config" -q -F -o "$work/kill" >"$work/out" 2>&1 &
    client=$!
    sleep $((RANDOM % 7)).$((RANDOM % 1000))
    kill -9 $client 2>/dev/null
    wait $client 2>/dev/null
    [ -e "$work/kill/kubernetes.json" ] || continue # killed before it had a label: nothing was made
    cleanup "$work/kill" || { left=$((left + 1)); not_ok "killed at random" "cleanup failed"; }
    [ -z "$(k get clusterqueues,jobs,localqueues,resourceflavors,pods -A -l trainyard/run -o name)" ] || left=$((left + 1))
    rm -rf "$work/kill"
done
[ $left = 0 ] && nothing_left "killed $kills times" && ok "killed $kills times at random moments, nothing left"

# ---- nothing else touched

sleep 2
everything >"$work/after"
if diff "$work/before" "$work/after" >"$work/out"; then ok "nothing else touched: $(wc -l <"$work/before") objects equal"; else not_ok "nothing else touched" "objects differ"; fi

kill $restarted 2>/dev/null
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
