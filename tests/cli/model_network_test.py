#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Certificates and proxies: a certificate authority of the test's own, a provider that speaks https with it on a loopback
socket, and a proxy that writes down what it is asked. KAGENT_MODEL_PROBE is the client."""
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest

from model_server import ModelServer

PROBE = os.environ["KAGENT_MODEL_PROBE"]
SHARE = str(pathlib.Path(__file__).resolve().parents[2] / "share")
KEY = "sk-canary-0123456789"
FAST = "connect=5,first=5,idle=5,total=20"


class Proxy:
    """Lets CONNECT through where `allows`; lines: the first line of each request, heard: every byte before a tunnel."""

    def __init__(self, allows=True):
        self.allows, self.lines, self.heard = allows, [], b""
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = "http://127.0.0.1:%d" % self.socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self.socket.close()

    def _serve(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(client,), daemon=True).start()

    def _one(self, client):
        with client:
            self._answer(client)

    def _answer(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            if not (more := client.recv(4096)):
                return
            head += more
        self.heard += head
        self.lines.append(head.split(b"\r\n")[0].decode())
        if not self.allows or not head.startswith(b"CONNECT "):
            client.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
            return
        host, port = self.lines[-1].split()[1].rsplit(":", 1)
        with socket.create_connection((host, int(port))) as server:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=self._pass, args=(server, client), daemon=True)
            back.start()
            self._pass(client, server)
            back.join(10)

    @staticmethod
    def _pass(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class ModelNetwork(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which("openssl") is None:
            raise unittest.SkipTest("SKIPPED: no openssl to make certificates with")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="kagent-tls-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=test authority",
                    "-keyout", "ca.key", "-out", "ca.pem")
        for name, alternative in (("server", "IP:127.0.0.1"), ("other", "DNS:elsewhere.example")):
            cls.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key",
                        "-out", f"{name}.csr")
            (cls.folder / "extensions").write_text(f"subjectAltName={alternative}\n")
            cls.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile",
                        "extensions", "-out", f"{name}.pem")

    @classmethod
    def openssl(cls, *arguments):
        done = subprocess.run(["openssl", *arguments], cwd=cls.folder, text=True, capture_output=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def ask(self, certificate="server", **environment):
        tls = None
        if certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(self.folder / f"{certificate}.pem", self.folder / f"{certificate}.key")
        self.server = ModelServer([{"text": "So."}], tls)
        self.addCleanup(self.server.close)
        done = subprocess.run([PROBE, "openai/model", self.server.address + "/v1", FAST, "2", "1", SHARE], text=True,
                              capture_output=True, timeout=60, env={"OPENAI_API_KEY": KEY} | environment)
        self.assertNotIn(KEY, done.stdout + done.stderr)
        return done

    def assert_answered(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout.splitlines()[0])["text"], "So.")
        self.assertIn(KEY, self.server.requests[0][0]["authorization"])

    def assert_refused(self, done, words):
        """At once, with one line, and nothing was said to the server."""
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertRegex(done.stderr, words)
        self.assertEqual(self.server.requests, [])

    def test_own_authority(self):
        ca = str(self.folder / "ca.pem")
        for variable in "KAGENT_CA_FILE", "CURL_CA_BUNDLE", "SSL_CERT_FILE":
            with self.subTest(variable):
                self.assert_answered(self.ask(**{variable: ca}))
        self.assert_answered(self.ask(KAGENT_CA_FILE=ca, SSL_CERT_FILE="/nowhere.pem"))

    def test_certificates_that_are_not_accepted(self):
        self.assert_refused(self.ask(), "(?i)certificate")
        self.assert_refused(self.ask(certificate="other", KAGENT_CA_FILE=str(self.folder / "ca.pem")), "(?i)subject|name|match")
        self.assert_refused(self.ask(KAGENT_CA_FILE="/nowhere.pem"), "/nowhere.pem")

    def test_session_keys_are_not_written(self):
        log = self.folder / "session-keys"
        self.assert_answered(self.ask(KAGENT_CA_FILE=str(self.folder / "ca.pem"), SSLKEYLOGFILE=str(log)))
        self.assertFalse(log.exists())

    def test_proxy(self):
        ca = str(self.folder / "ca.pem")
        for variable in "https_proxy", "HTTPS_PROXY", "ALL_PROXY":
            with self.subTest(variable):
                proxy = Proxy()
                self.addCleanup(proxy.close)
                self.assert_answered(self.ask(KAGENT_CA_FILE=ca, **{variable: proxy.address}))
                self.assertEqual([line.split()[0] for line in proxy.lines], ["CONNECT"])
                self.assertNotIn(KEY.encode(), proxy.heard)
        proxy = Proxy()
        self.addCleanup(proxy.close)
        self.assert_answered(self.ask(KAGENT_CA_FILE=ca, https_proxy=proxy.address, NO_PROXY="127.0.0.1"))
        self.assertEqual(proxy.lines, [])

    def test_proxy_that_refuses(self):
        proxy = Proxy(allows=False)
        self.addCleanup(proxy.close)
        done = self.ask(KAGENT_CA_FILE=str(self.folder / "ca.pem"), https_proxy=proxy.address)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("403", done.stderr)
        self.assertEqual(self.server.requests, [])

    def test_this_machine_needs_no_proxy(self):
        """Plain http is for this machine only; through a proxy the key would leave it in the open."""
        proxy = Proxy()
        self.addCleanup(proxy.close)
        self.assert_answered(self.ask(certificate=None, http_proxy=proxy.address, ALL_PROXY=proxy.address))
        self.assertEqual(proxy.lines, [])


if __name__ == "__main__":
    unittest.main()
