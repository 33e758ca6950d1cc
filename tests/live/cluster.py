"""cluster.py - one API server, by a kubeconfig that stack.sh wrote: create, get, patch, delete, watch.

    api = Cluster("DIR/admin.kubeconfig")
    api.create("/api/v1/namespaces/x/pods", {...})
    for t, what, o in api.watch("/apis/batch/v1/namespaces/x/jobs", stop, listed): ...

Errors of the server are raised as Refused with its message. Calls may come from several threads; each has its connection.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import http.client
import json
import re
import ssl
import threading
import time


class Refused(Exception):
    """The API server answered with an error."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


class Cluster:
    def __init__(self, kubeconfig):
        text = open(kubeconfig, encoding="utf-8").read()
        self.host, self.port = re.search(r"https://([^:]+):(\d+)", text).groups()
        path = {k: re.search(k + r": ([^,}\s]+)", text).group(1) for k in ("certificate-authority", "client-certificate", "client-key")}
        self.tls = ssl.create_default_context(cafile=path["certificate-authority"])
        self.tls.load_cert_chain(path["client-certificate"], path["client-key"])
        self.local = threading.local()

    def connect(self, timeout=30):
        return http.client.HTTPSConnection(self.host, int(self.port), context=self.tls, timeout=timeout)

    def call(self, method, path, body=None, kind="application/json"):
        data = None if body is None else json.dumps(body)
        for again in (True, False):  # a connection kept open may have been closed by the server
            connection = self.local.__dict__.setdefault("connection", None) or self.connect()
            self.local.connection = connection
            try:
                connection.request(method, path, data, {"Content-Type": kind, "Accept": "application/json"})
                answer = connection.getresponse()
                text = answer.read()
                break
            except (http.client.HTTPException, OSError):
                self.local.connection = None
                if not again:
                    raise
        o = json.loads(text) if text else {}
        if answer.status >= 400:
            raise Refused(answer.status, o.get("message", text))
        return o

    def get(self, path):
        return self.call("GET", path)

    def create(self, path, o):
        return self.call("POST", path, o)

    def patch(self, path, change):
        return self.call("PATCH", path, change, "application/merge-patch+json")

    def delete(self, path, **options):
        return self.call("DELETE", path, options or None)

    def watch(self, path, stop, listed):
        """Yields (monotonic time, ADDED | MODIFIED | DELETED, object), of what happens after `listed` is set until stop is."""
        version = self.get(path)["metadata"]["resourceVersion"]
        listed.set()
        while not stop.is_set():
            connection = self.connect(timeout=2)
            try:
                connection.request("GET", f"{path}?watch=1&resourceVersion={version}")
                answer = connection.getresponse()
                while not stop.is_set():
                    try:
                        line = answer.readline()
                    except TimeoutError:
                        break
                    if not line:
                        break
                    event = json.loads(line)
                    version = event["object"]["metadata"]["resourceVersion"]
                    yield time.monotonic(), event["type"], event["object"]
            except TimeoutError:
                pass
            finally:
                connection.close()
