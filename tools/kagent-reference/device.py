# SPDX-License-Identifier: Apache-2.0
"""What this machine is: DeviceRecord and versions."""
import os
import platform
import sys

import torch

import kagent_native as native


def start(backend, index):
    """Touches the card for the first time, the timeline before it. Returns torch's device."""
    if backend == "cpu":
        return torch.device("cpu")
    native.start_timeline()
    device = torch.device("cuda", index)
    torch.cuda.set_device(device)
    torch.zeros(1, device=device)   # the context exists from here on
    torch.cuda.synchronize(device)
    return device


def record(device):
    """DeviceRecord."""
    if device.type == "cuda":
        return native.device_record(device.index)
    cores = len(os.sched_getaffinity(0))
    return {"name": _cpu_name(), "uuid": "cpu", "architecture": "native", "driver": "", "capability_major": 0,
            "capability_minor": 0, "multiprocessors": cores, "max_threads_per_block": 1,
            "max_threads_per_multiprocessor": 1, "registers_per_multiprocessor": 0, "warp_size": 1,
            "shared_bytes_per_block": 0, "shared_bytes_per_multiprocessor": 0, "l2_bytes": _last_cache_bytes(),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")}


def versions(device_record):
    return {"torch": torch.__version__, "cuda": torch.version.cuda or "", "python": sys.version.split()[0],
            "driver": device_record["driver"]}


def _cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine() or "CPU"


def _last_cache_bytes():
    """Size of the CPU's largest cache, which is what a kernel's tiles should fit; 0 if hidden."""
    largest = 0
    folder = "/sys/devices/system/cpu/cpu0/cache"
    try:
        for entry in os.listdir(folder):
            path = os.path.join(folder, entry, "size")
            if os.path.exists(path):
                with open(path, encoding="ascii") as file:
                    text = file.read().strip()
                unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 1)
                largest = max(largest, int(text.rstrip("KMG") or 0) * unit)
    except (OSError, ValueError):
        pass
    return largest
