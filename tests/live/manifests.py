"""manifests.py - the objects that a scenario stands for, as `trainyard export --to manifests` writes them.

    m = Manifests(trainyard, kubectl, "kueue/quota.json", "strict", folder)
    m.nodes, m.setup    objects, in the order of creation
    m.jobs              (seconds, object), in the order of submission
    m.id                the scenario's name of a job, by that of its object

SPDX-License-Identifier: GPL-3.0-or-later
"""
import csv
import json
import subprocess

PLURAL = {"ResourceFlavor": "resourceflavors", "WorkloadPriorityClass": "workloadpriorityclasses", "PriorityClass": "priorityclasses"}
WITHOUT_NAMESPACE = {"Node", "Namespace", "ResourceFlavor", "Cohort", "ClusterQueue", "WorkloadPriorityClass", "PriorityClass"}


def plural(kind):
    return PLURAL.get(kind, kind.lower() + "s")


def path_of(o):
    """Where objects of this kind are created."""
    version = o["apiVersion"]
    space = "" if o["kind"] in WITHOUT_NAMESPACE else f"/namespaces/{o['metadata'].get('namespace', 'default')}"
    return f"/{'apis' if '/' in version else 'api'}/{version}{space}/{plural(o['kind'])}"


class Manifests:
    def __init__(self, trainyard, kubectl, scenario, approach, folder):
        self.kubectl = kubectl
        subprocess.run([trainyard, "export", scenario, "--approach", approach, "--to", "manifests", "-o", folder], check=True)
        rows = list(csv.DictReader(open(folder / "index.csv", newline="", encoding="utf-8")))
        objects = self.read([folder / r["file"] for r in rows])
        self.nodes = self.read([folder / "nodes.yaml"])
        self.setup = [o for r, o in zip(rows, objects) if not r["job"]]
        self.jobs = sorted(((float(r["at_s"]), o) for r, o in zip(rows, objects) if r["job"]), key=lambda x: x[0])
        self.id = {r["name"]: r["job"] for r in rows if r["job"]}

    def read(self, files):
        """YAML as kubectl understands it; in one call."""
        text = "\n".join(f.read_text() for f in files)
        told = subprocess.run([self.kubectl, "patch", "--local", "--type=merge", "-p", "{}", "-f", "-", "-o", "json"], input=text,
                              capture_output=True, text=True, check=True).stdout
        decoder, at, out = json.JSONDecoder(), 0, []
        while at < len(told.rstrip()):
            o, at = decoder.raw_decode(told, at + len(told[at:]) - len(told[at:].lstrip()))
            out.append(o)
        return out
