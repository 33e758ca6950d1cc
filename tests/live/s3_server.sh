# s3_server.sh - a real object store on this machine, for the tests that source this: moto from PyPI, in a virtual
# environment below the user's cache, checking signatures and permissions.
#
#     . tests/live/s3_server.sh
#     s3_start DIR || exit $?             # log and files in DIR; sets AWS_*, makes the bucket "runs"
#     s3_keys PREFIX                     # the keys below it, one a line
#     s3_stop                            # the one that was started, and no other
#
# Without the packages, and no way to get them, s3_start says so and gives 77.
#
# SPDX-License-Identifier: GPL-3.0-or-later
. "$(dirname "${BASH_SOURCE[0]}")/cache.sh"
. "$(dirname "${BASH_SOURCE[0]}")/port.sh"
s3_pins="moto[server]==5.2.5"
s3_pid= venv=$cache/venv/moto

s3_python() { "$venv/bin/python" - "$AWS_ENDPOINT_URL" "$@"; }

# A user who may do all, one who may not delete, one who may only read, and from then on nothing without a signature.
s3_setup='
import boto3, json, sys, urllib.request
at = dict(endpoint_url=sys.argv[1], region_name="us-east-1", aws_access_key_id="setup", aws_secret_access_key="setup")
iam = boto3.client("iam", **at)
read = ["s3:Get*", "s3:List*"]
for user, action in ("writer", "*"), ("keeper", read + ["s3:Put*"]), ("reader", read):
    iam.create_user(UserName=user)
    key = iam.create_access_key(UserName=user)["AccessKey"]
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, "Resource": "*"}]}
    iam.put_user_policy(UserName=user, PolicyName=user, PolicyDocument=json.dumps(policy))
    print("%s_key=%s %s_secret=%s" % (user, key["AccessKeyId"], user, key["SecretAccessKey"]))
boto3.client("s3", **at).create_bucket(Bucket="runs")
urllib.request.urlopen(urllib.request.Request(sys.argv[1] + "/moto-api/reset-auth", data=b"0", headers={"Content-Type": "text/plain"}, method="POST")).read()
'

s3_serve() { # DIR PORT: answers within 30 s
    local i
    "$venv/bin/moto_server" -H 127.0.0.1 -p "$2" >"$1/moto.log" 2>&1 &
    s3_pid=$!
    for ((i = 0; i < 300; i++)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null && return
        kill -0 $s3_pid 2>/dev/null || break
        sleep 0.1
    done
    echo "the object store does not start: $(tail -1 "$1/moto.log")" >&2
    s3_stop
    return 1
}

s3_start() { # DIR
    cache_venv moto "$1/install.log" "$s3_pins" || return
    s3_port=$(free_port)
    s3_serve "$1" $s3_port || return
    export AWS_ENDPOINT_URL=http://127.0.0.1:$s3_port
    s3_python <<<"$s3_setup" >"$1/keys" || { s3_stop; return 1; }
    . "$1/keys"
    export AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=$writer_key AWS_SECRET_ACCESS_KEY=$writer_secret
    unset AWS_ENDPOINT_URL_S3 AWS_SESSION_TOKEN AWS_CA_BUNDLE AWS_MAX_ATTEMPTS
}

s3_stop() {
    [ -n "$s3_pid" ] && kill $s3_pid 2>/dev/null && wait $s3_pid 2>/dev/null
    s3_pid=
}

s3_keys() { # PREFIX
    s3_python "$1" <<'PYTHON'
import boto3, sys
pages = boto3.client("s3", endpoint_url=sys.argv[1]).get_paginator("list_objects_v2").paginate(Bucket="runs", Prefix=sys.argv[2])
for page in pages:
    for o in page.get("Contents", []):
        print(o["Key"])
PYTHON
}
