# SPDX-License-Identifier: Apache-2.0
"""The session of ordinary Python: kernels are built at their first launch, and launched."""
import os
import sys

import torch

from kagent.launch import LaunchError
from kagent.live.builder import Builder
from kagent.live.cpu import CpuKernel
from kagent.live.cuda import CudaKernel

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class LiveSession:
    def __init__(self):
        self._builder = Builder()
        self._kernels = {}     # (handle, architecture) -> CpuKernel or CudaKernel

    @property
    def backend(self):
        return "cuda" if torch.cuda.is_available() else "cpu"

    def backend_of(self, source):
        """A C++ source is a kernel for the CPU, whatever else is there."""
        return "cpu" if source.endswith((".cpp", ".cc", ".cxx")) else "cuda"

    @property
    def device_record(self):
        if not torch.cuda.is_available():
            return {"name": "CPU", "uuid": "cpu", "architecture": "native",
                    "multiprocessors": len(os.sched_getaffinity(0))}
        card = torch.cuda.get_device_properties(torch.cuda.current_device())
        return {
            "name": card.name, "architecture": _architecture(card.major, card.minor),
            "capability_major": card.major, "capability_minor": card.minor,
            "multiprocessors": card.multi_processor_count, "max_threads_per_block": 1024,
            "max_threads_per_multiprocessor": card.max_threads_per_multi_processor,
            "registers_per_multiprocessor": card.regs_per_multiprocessor, "warp_size": card.warp_size,
            "shared_bytes_per_block": card.shared_memory_per_block_optin,
            "shared_bytes_per_multiprocessor": card.shared_memory_per_multiprocessor,
            "l2_bytes": card.L2_cache_size, "memory_bytes": card.total_memory}

    def declare(self, source, name, options):
        folder = _caller_folder()
        if not os.path.isfile(os.path.join(folder, source)):
            raise LaunchError(f"kagent.kernel: {os.path.join(folder, source)} does not exist")
        return folder, source, name, options

    def tune(self, name, values):
        """KAGENT_TUNE_<NAME> chooses another of the values."""
        wanted = os.environ.get(f"KAGENT_TUNE_{name}")
        if wanted is None:
            return values[0]
        if wanted not in map(str, values):
            raise ValueError(f"KAGENT_TUNE_{name}={wanted} is none of {', '.join(map(str, values))}")
        return int(wanted)

    def launch(self, handle, config, arguments):
        architecture = "native"
        if self.backend_of(handle[1]) == "cuda":
            architecture = _architecture(*torch.cuda.get_device_capability())
        kernel = self._kernels.get((handle, architecture))
        if kernel is None:
            kernel = self._kernels[handle, architecture] = self._build(handle, architecture)
        kernel.launch(config, arguments)

    def _build(self, handle, architecture):
        folder, source, name, options = handle
        backend = self.backend_of(source)
        result, images = self._builder.build({
            "backend": backend, "architecture": architecture, "compiler": "automatic", "sources": _sources(folder),
            "kernels": [{"kernel": 0, "source": source, "name": name, "options": list(options)}]})
        try:
            build = result["kernels"][0]
            kind = CpuKernel if backend == "cpu" else CudaKernel
            return kind(name, build, images[build["unit"]])
        finally:
            for image in images:
                os.close(image)


def _architecture(major, minor):
    """The card's own instruction set, with what only that generation has."""
    return f"sm_{major}{minor}{'a' if major >= 9 else ''}"


def _caller_folder():
    """Folder of the file that called kagent.kernel."""
    frame = sys._getframe(1)
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE + os.sep):
        frame = frame.f_back
    name = frame.f_code.co_filename if frame is not None else ""
    return os.path.dirname(os.path.abspath(name)) if os.path.isfile(name) else os.getcwd()


def _sources(folder):
    """Every text file under kernels/, by its path relative to the candidate."""
    sources = {}
    for parent, _, names in os.walk(os.path.join(folder, "kernels")):
        for name in names:
            path = os.path.join(parent, name)
            try:
                with open(path, encoding="utf-8") as file:
                    sources[os.path.relpath(path, folder)] = file.read()
            except UnicodeDecodeError:
                continue
    return sources
