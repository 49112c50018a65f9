# SPDX-License-Identifier: Apache-2.0
"""Launches that really happen, in ordinary Python. Never part of a recording."""
