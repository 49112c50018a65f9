# SPDX-License-Identifier: Apache-2.0
"""kagent.device: the card (or CPU) that the candidate will run on."""
from kagent import session


class _Device:
    """Read-only figures; all sizes in bytes. On the CPU backend GPU figures read 0."""

    _FIELDS = {
        "name": "name", "architecture": "architecture", "sm_count": "multiprocessors",
        "max_threads_per_block": "max_threads_per_block", "max_threads_per_sm": "max_threads_per_multiprocessor",
        "registers_per_sm": "registers_per_multiprocessor", "warp_size": "warp_size",
        "shared_memory_per_block": "shared_bytes_per_block",
        "shared_memory_per_sm": "shared_bytes_per_multiprocessor", "l2_bytes": "l2_bytes",
        "memory_bytes": "memory_bytes"}

    @property
    def capability(self):
        """(major, minor), (9, 0) for an H100 or H200."""
        record = session.current().device_record
        return record.get("capability_major", 0), record.get("capability_minor", 0)

    @property
    def backend(self):
        """"cuda" or "cpu"."""
        return session.current().backend

    def __getattr__(self, name):
        field = self._FIELDS.get(name)
        if field is None:
            raise AttributeError(f"kagent.device has no '{name}'; it has {', '.join(sorted(dir(self)))}")
        return session.current().device_record.get(field, "" if field in ("name", "architecture") else 0)

    def __setattr__(self, name, value):
        raise AttributeError("kagent.device cannot be changed")

    def __dir__(self):
        return [*self._FIELDS, "backend", "capability"]


device = _Device()
