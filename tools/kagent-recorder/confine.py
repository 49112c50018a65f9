# SPDX-License-Identifier: Apache-2.0
"""Keeps the child that runs a candidate away from its server and from everybody else: src/sandbox, by ctypes.

A recording needs no processes, programs, sockets or signals: in a child all of those fail with EPERM.
"""
import ctypes
import os

_LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kagent_nest.so")


class Nest:
    """Around each fork: prepare() in the server, enter() in the child, close_door() in the server."""

    def __init__(self):
        self._library = ctypes.CDLL(_LIBRARY)
        for name in ("kagent_nest_prepare", "kagent_nest_enter"):
            getattr(self._library, name).restype = ctypes.c_char_p

    def hide_server(self):
        """Makes this process non-dumpable: nobody without privileges may trace it or open /proc/<pid>/mem."""
        self._library.kagent_nest_hide_server()

    def is_fresh(self):
        """Whether children get namespaces and a user of their own."""
        return bool(self._library.kagent_nest_is_fresh())

    def prepare(self):
        self._check(self._library.kagent_nest_prepare())

    def close_door(self):
        self._library.kagent_nest_close_door()

    def enter(self, server):
        """For good. server: the pid that forked this process. OSError where it can't be done: the child must end."""
        self._check(self._library.kagent_nest_enter(ctypes.c_int(server)))

    @staticmethod
    def _check(said):
        if said:
            raise OSError(said.decode("utf-8", "replace"))
