# SPDX-License-Identifier: Apache-2.0
"""Lets a candidate ask torch.cuda about the card although none is visible: the device record answers."""
import contextlib
import sys
import types

import torch


def _properties(record):
    return types.SimpleNamespace(
        name=record.get("name", ""), major=record.get("capability_major", 0), minor=record.get("capability_minor", 0),
        multi_processor_count=record.get("multiprocessors", 0), total_memory=record.get("memory_bytes", 0),
        warp_size=record.get("warp_size", 32), L2_cache_size=record.get("l2_bytes", 0),
        max_threads_per_multi_processor=record.get("max_threads_per_multiprocessor", 0),
        regs_per_multiprocessor=record.get("registers_per_multiprocessor", 0),
        shared_memory_per_block_optin=record.get("shared_bytes_per_block", 0),
        shared_memory_per_multiprocessor=record.get("shared_bytes_per_multiprocessor", 0))


def _for_candidate(answer, original, lines):
    def choose(*args, **kwargs):
        asked_by_candidate = lines.relative(sys._getframe(1).f_code.co_filename) is not None
        return (answer if asked_by_candidate else original)(*args, **kwargs)
    return choose


@contextlib.contextmanager
def answered_from(record, device, lines):
    """record: a DeviceRecord as JSON. Only calls from the candidate's own files are answered so, since torch itself
    must know that there is no card. Does nothing on the CPU backend."""
    if device.type != "cuda":
        yield
        return
    properties = _properties(record)
    answers = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda _device: None,
        "get_device_name": lambda _device=None: properties.name,
        "get_device_capability": lambda _device=None: (properties.major, properties.minor),
        "get_device_properties": lambda _device=None: properties,
        "synchronize": lambda _device=None: None,
    }
    originals = {name: getattr(torch.cuda, name) for name in answers}
    for name, answer in answers.items():
        setattr(torch.cuda, name, _for_candidate(answer, originals[name], lines))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(torch.cuda, name, original)
