#!/usr/bin/env python3
"""calls.py - admission and conversion webhooks for a controller that runs outside the cluster.

    kubectl ... -o json | calls.py https://127.0.0.1:PORT CA.crt NAME

Reads CustomResourceDefinitions and webhook configurations as JSON, and writes them with the address given instead of a
Service, CA.crt as the authority, and configurations named NAME-...; other kinds are left out.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import base64
import json
import sys


def documents(text):
    """Objects one after the other, lists taken apart."""
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        o, at = decoder.raw_decode(text, at)
        yield from o["items"] if o["kind"] == "List" else [o]


def call(config, base, authority):
    path = config.pop("service", {}).get("path", "/")
    config.update(url=base + path, caBundle=authority)


def main(base, ca, name):
    with open(ca, "rb") as f:
        authority = base64.b64encode(f.read()).decode()
    kept = []
    for o in documents(sys.stdin.read()):
        if o["kind"] == "CustomResourceDefinition":
            o["metadata"].pop("annotations", None)
            if o["spec"].get("conversion", {}).get("strategy") == "Webhook":
                call(o["spec"]["conversion"]["webhook"]["clientConfig"], base, authority)
        elif o["kind"].endswith("WebhookConfiguration"):
            o["metadata"] = {"name": name + "-" + o["kind"].replace("WebhookConfiguration", "").lower()}
            for hook in o["webhooks"]:
                call(hook["clientConfig"], base, authority)
        else:
            continue
        kept.append(o)
    json.dump({"apiVersion": "v1", "kind": "List", "items": kept}, sys.stdout)


main(*sys.argv[1:])
