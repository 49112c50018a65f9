# SPDX-License-Identifier: Apache-2.0
"""Candidates that attack the recorder: the answer is a plan or a fault, and the server answers the next request."""
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from recorder_server import RecorderTest, Server

GOOD = '''
    class ModelNew(nn.Module):
        def forward(self, x):
            return torch.empty_like(x)
    '''
FORWARD = '''
    import os, signal, sys, ctypes, json, socket, subprocess, threading

    class ModelNew(nn.Module):
        def forward(self, x):
            y = torch.empty_like(x)
            {}
            return y
    '''


class Hostile(RecorderTest):
    def setUp(self):
        super().setUp()
        self.pid = self.server.ask(type="hello")["ok"]["pid"]

    def attack(self, body, **request):
        """One line of Python; the answer after it, once the server has proved that it is well."""
        answer = self.answer(FORWARD.format(body), **request)
        self.assertIn(list(answer), (["ok"], ["fault"]), answer)
        self.assertEqual(self.pid, self.server.ask(type="hello")["ok"]["pid"])
        plan = self.plan(GOOD)
        self.assertEqual(1, len(plan["forward"]))
        self.assertEqual([], self.children())
        self.write(FORWARD.format(body))   # so that its lines can be found
        return answer

    def children(self):
        with open(f"/proc/{self.pid}/task/{self.pid}/children", encoding="ascii") as file:
            return file.read().split()

    def test_leaving(self):
        self.assert_fault(self.attack("os._exit(0)")["fault"], "tampering", "not a plan")
        self.assert_fault(self.attack("os._exit(3)")["fault"], "crash", "forward ended the process (exit code 3)")
        self.assert_fault(self.attack("os.abort()")["fault"], "crash", "forward crashed the interpreter")
        self.assert_fault(self.attack("os.kill(os.getpid(), signal.SIGKILL)")["fault"], "crash", "SIGKILL")
        self.assert_fault(self.attack("ctypes.string_at(0)")["fault"], "crash", "SIGSEGV", "ctypes.string_at(0)")

    def test_writing_to_descriptors(self):
        forged = '{"ok": {"plan": {}}}'
        for text in ("KGT1", forged, "{" * 100000, "[" * 5000000, '{"fault": {"kind": "victory"}}', "\xff", "1", "NaN",
                     '{"ok": {"plan": {"a": "\\ud800"}}}', '{"ok": {"plan": {}, "more": 1}}', "1" * 10000):
            answer = self.attack(f"[os.write(n, {text!r}.encode('latin-1')) for n in range(3, 4)]; os._exit(0)")
            self.assertTrue(text == forged or answer["fault"]["kind"] == "tampering", answer)
        self.attack("[os.write(n, b'KGT1' * 100) for n in range(4, 20) if os.path.exists(f'/proc/self/fd/{n}')]")
        self.attack("os.closerange(0, 100)")

    def test_too_much(self):
        fault = self.attack("[os.write(3, b' ' * (1 << 20)) for _ in range(100)]")["fault"]
        self.assert_fault(fault, "unsupported", "larger than 94 MiB")
        self.assertIn("ok", self.attack("[print('x' * 1000000) for _ in range(20)]"))
        self.assertIn("ok", self.attack("os.write(2, b'y' * 5000000)"))
        fault = self.attack("[os.write(2, b'y' * (1 << 20)) for _ in range(100)]")["fault"]
        self.assert_fault(fault, "crash", "OSError", "os.write(2")

    def test_signals(self):
        ours = os.getpid()
        for target in ("os.getppid()", "-1", "0", str(ours), "1"):
            fault = self.attack(f"os.kill({target}, signal.SIGKILL)")["fault"]
            self.assert_fault(fault, "crash", "PermissionError", "os.kill(")
        fault = self.attack("import fcntl; r, w = os.pipe(); fcntl.fcntl(r, fcntl.F_SETOWN, os.getppid())")["fault"]
        self.assert_fault(fault, "crash", "PermissionError")
        fault = self.attack("import resource; resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))")["fault"]
        self.assert_fault(fault, "crash", "PermissionError")
        libc = "libc = ctypes.CDLL(None, use_errno=True); "
        for call in ("ptrace(16, os.getppid(), 0, 0)", "syscall(434, os.getppid(), 0)", "syscall(200, os.getppid(), 9)"):
            answer = self.attack(f"{libc}print(libc.{call}, ctypes.get_errno()); raise ValueError")
            self.assertIn("-1 1", answer["fault"]["detail"])
        fault = self.attack("open(f'/proc/{os.getppid()}/mem', 'r+b').seek(4096)")
        self.assertIn(list(fault), (["fault"], ["ok"]))

    def test_processes_and_sockets(self):
        for body in ("os.fork()", "subprocess.run(['true'])", "os.execv('/bin/true', ['true'])", "os.system('true') and 1/0",
                     "socket.socket()", "os.posix_spawn('/bin/true', ['true'], {})"):
            self.assertIn("fault", self.attack(body), body)
        self.assertIn("ok", self.attack(
            "t = threading.Thread(target=time.sleep, args=(0,)) if 'time' in globals() else threading.Thread(target=int)"
            "; t.start(); t.join()"))
        # A thread that never ends does not keep the recording from ending.
        self.assertIn("ok", self.attack("threading.Thread(target=lambda: threading.Event().wait()).start()"))

    def test_monkeypatching(self):
        for body in ("json.dumps = lambda *a, **k: '{}'", "os.write = None", "torch.empty_like = None",
                     "torch.Tensor.__repr__ = None", "sys.modules.clear()",
                     "import gc; [o.clear() for o in gc.get_objects() if type(o) is list and len(o) > 3]",
                     "sys.stdout = sys.stderr = None", "import builtins; builtins.isinstance = lambda *a: True",
                     "sys.settrace(lambda *a: 1/0)", "sys.setrecursionlimit(90)", "os._exit = lambda code: None"):
            self.attack(body)

    def test_hiding_from_except(self):
        self.attack("try: x.sum().item()\n            except BaseException: pass")
        fault = self.answer('''
            class Nasty(Exception):
                def __str__(self):
                    raise SystemExit
                __repr__ = __str__

            class ModelNew(nn.Module):
                def forward(self, x):
                    raise Nasty
            ''')
        self.assertEqual("crash", fault["fault"]["kind"])

    def test_the_server_keeps_one_thread(self):
        self.plan(GOOD)
        self.assertEqual(1, len(os.listdir(f"/proc/{self.pid}/task")))
        maps = self.read_maps()
        self.assertNotIn("/dev/nvidia", maps)

    def read_maps(self):
        try:
            with open(f"/proc/{self.pid}/maps", encoding="utf-8") as file:
                return file.read()
        except PermissionError:
            return ""


class ServerItself(unittest.TestCase):
    def test_ends_when_the_channel_closes(self):
        server = Server()
        self.assertEqual({"error": {"message": "recorder: unknown request 'what'"}}, server.ask(type="what"))
        self.assertIn("error", server.ask(type="record", candidate="/no/such/folder"))
        self.assertIn("no folder", server.ask(
            type="record", candidate="/no/such/folder", backend="cpu", mode="eval", device={},
            signature={"init": [], "inputs": [], "weights": []})["error"]["message"])
        self.assertEqual(0, server.close())

    def test_without_rights_or_a_folder_to_write_to(self):
        prefix = ["bwrap", "--unshare-user", "--uid", "65534", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/",
                  "--proc", "/proc", "--dev", "/dev", "--"]
        if not shutil.which("bwrap") or subprocess.run([*prefix, "true"], capture_output=True).returncode != 0:
            self.skipTest("bubblewrap is not there or not allowed")
        server = Server(prefix)
        self.addCleanup(server.close)
        case = Hostile("run")
        case.server = server
        case.folder = self.folder()
        self.assertIn("ok", case.answer(GOOD))
        fault = case.answer(FORWARD.format("os.kill(os.getppid(), 9)"))["fault"]
        self.assertIn("PermissionError", fault["message"])
        self.assertIn("ok", case.answer(GOOD))

    def folder(self):
        folder = tempfile.mkdtemp(prefix="kagent-candidate-")
        os.chmod(folder, 0o755)
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def test_a_hang_ends_with_the_server(self):
        """kagent holds the deadline and kills the server; the child must not live on."""
        case = Hostile("run")
        case.server = server = Server()
        self.addCleanup(server.channel.close)
        case.folder = self.folder()
        case.pid = server.ask(type="hello")["ok"]["pid"]
        case.write(FORWARD.format("while True: pass"))
        server.channel.send({"type": "record", "candidate": case.folder, "backend": "cpu", "mode": "eval", "device": {},
                             "signature": {"init": [], "inputs": [{"tensor": {"dtype": "float32", "shape": [1],
                                                                            "stride": [1]}}], "weights": []}})
        deadline = time.monotonic() + 10
        while not case.children() and time.monotonic() < deadline:
            time.sleep(0.02)
        (child,) = case.children()
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        while os.path.exists(f"/proc/{child}") and time.monotonic() < deadline:
            time.sleep(0.02)
            state = subprocess.run(["ps", "-o", "stat=", "-p", child], capture_output=True, text=True).stdout
            if state.startswith("Z"):
                break
        else:
            self.assertFalse(os.path.exists(f"/proc/{child}"))


if __name__ == "__main__":
    unittest.main()
