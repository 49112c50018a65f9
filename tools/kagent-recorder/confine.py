# SPDX-License-Identifier: Apache-2.0
"""Keeps the child that runs a candidate away from its server: a seccomp filter, on top of the sandbox's.

Server and child share a uid and a PID namespace, so without it the child could signal, trace or starve the server
that records later candidates. A recording needs no processes, programs, sockets or signals: all of those fail
with EPERM. Threads are possible.
"""
import ctypes
import os
import struct
import sys

_X86_64, _AARCH64 = 0xC000003E, 0xC00000B7
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_CLONE_THREAD = 0x00010000

# name: (x86_64, aarch64); None where the architecture has no such call.
_DENIED = {
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "kcmp": (312, 272),
    "perf_event_open": (298, 241), "bpf": (321, 280), "userfaultfd": (323, 282),
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setscheduler": (144, 119), "sched_setparam": (142, 118),
    "sched_setattr": (314, 274), "migrate_pages": (256, 238), "move_pages": (279, 239),
    "msgget": (68, 186), "semget": (64, 190), "shmget": (29, 194)}
_OWN_PID_ONLY = {"kill": (62, 129), "tgkill": (234, 131)}                      # first argument: exactly ours
_OWN_PID_OR_ZERO = {"prlimit64": (302, 261), "sched_setaffinity": (203, 122)}   # … or 0, which means ourselves
_FCNTL, _IOCTL, _PRCTL, _CLONE, _CLONE3 = (72, 25), (16, 29), (157, 167), (56, 220), (435, 435)
_FCNTL_COMMANDS = (8, 10, 15)                        # F_SETOWN, F_SETSIG, F_SETOWN_EX: a file that signals someone
_IOCTL_COMMANDS = (0x8901, 0x8902, 0x5412)           # FIOSETOWN, SIOCSPGRP, TIOCSTI


class _Program:
    """A BPF program over struct seccomp_data; every check jumps within itself only."""

    def __init__(self):
        self.code = []

    def add(self, code, jump_true, jump_false, value):
        self.code.append(struct.pack("<HBBI", code, jump_true, jump_false, value & 0xFFFFFFFF))

    def load(self, offset):
        self.add(0x20, 0, 0, offset)

    def answer(self, value):
        self.add(0x06, 0, 0, value)

    def if_equal(self, value, then):
        """then: what to answer where the loaded word equals value."""
        self.add(0x15, 0, 1, value)
        self.answer(then)

    def argument_rule(self, number, argument, values, then, otherwise):
        """For one call: `then` where the low word of an argument is among values, else `otherwise`."""
        self.add(0x15, 0, len(values) * 2 + 2, number)
        self.load(16 + 8 * argument)
        for value in values:
            self.if_equal(value, then)
        self.answer(otherwise)


def _filter(architecture, pid):
    column = 0 if architecture == _X86_64 else 1
    refuse = _ERRNO | _EPERM
    program = _Program()
    program.load(4)
    program.add(0x15, 1, 0, architecture)
    program.answer(_KILL)
    program.load(0)
    if architecture == _X86_64:                      # the x32 interface has the same calls under other numbers
        program.add(0x35, 0, 1, 0x40000000)
        program.answer(_KILL)
    for numbers in _DENIED.values():
        if numbers[column] is not None:
            program.if_equal(numbers[column], refuse)
    program.if_equal(_CLONE3[column], _ERRNO | _ENOSYS)   # its flags lie in memory; libc falls back to clone
    for numbers in _OWN_PID_ONLY.values():
        program.argument_rule(numbers[column], 0, (pid,), _ALLOW, refuse)
    for numbers in _OWN_PID_OR_ZERO.values():
        program.argument_rule(numbers[column], 0, (0, pid), _ALLOW, refuse)
    program.argument_rule(_FCNTL[column], 1, _FCNTL_COMMANDS, refuse, _ALLOW)
    program.argument_rule(_IOCTL[column], 1, _IOCTL_COMMANDS, refuse, _ALLOW)
    program.argument_rule(_PRCTL[column], 0, (1,), refuse, _ALLOW)   # PR_SET_PDEATHSIG stays as it is
    program.add(0x15, 0, 4, _CLONE[column])          # threads yes, processes no
    program.load(16)
    program.add(0x45, 0, 1, _CLONE_THREAD)
    program.answer(_ALLOW)
    program.answer(refuse)
    program.answer(_ALLOW)
    return program.code


class _FilterProgram(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def _prctl(option, argument, third=0):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(ctypes.c_int(option), ctypes.c_ulong(argument), third, ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def hide_memory():
    """Makes this process non-dumpable: nobody without privileges may trace it or open /proc/<pid>/mem."""
    _prctl(4, 0)


def end_with_parent(parent):
    """The kernel kills this process once its parent, whose pid the caller knew, is gone."""
    _prctl(1, 9)
    if os.getppid() != parent:
        os._exit(70)


def confine_this_process():
    """Installs the filter, for good. Raises OSError where the kernel has no seccomp; a no-op on other processors."""
    machine = os.uname().machine
    architecture = {"x86_64": _X86_64, "aarch64": _AARCH64}.get(machine)
    if architecture is None:
        print(f"kagent-recorder: no seccomp filter for {machine}", file=sys.stderr)
        return
    code = _filter(architecture, os.getpid())
    text = b"".join(code)
    _prctl(38, 1)                                     # no_new_privs
    program = _FilterProgram(len(code), text)
    _prctl(22, 2, ctypes.byref(program))              # seccomp, filter mode
