# SPDX-License-Identifier: Apache-2.0
"""Who carries out what the authoring module is asked: the recorder, or this process itself (kagent/live).

A session has
  declare(source, name, options) -> handle     a kernel; raises where its file is missing
  launch(handle, config, arguments)            config: LaunchConfig; arguments: checked tensors, numbers, TensorMaps
  tune(name, values) -> value                  one of values
  device_record -> dict                        a DeviceRecord as JSON (docs/protocol.md)
  backend -> "cuda" | "cpu"                    where tensors live
  backend_of(source) -> "cuda" | "cpu"         what a kernel is for; decides which limits a launch has
"""
import contextlib

_current = None


def current():
    """The session in force; the live one where nobody else has set one."""
    global _current
    if _current is None:
        from kagent.live.live_session import LiveSession   # ctypes and sockets, which recording must not load
        _current = LiveSession()
    return _current


@contextlib.contextmanager
def use(session):
    global _current
    before = _current
    _current = session
    try:
        yield session
    finally:
        _current = before
