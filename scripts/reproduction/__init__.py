# SPDX-License-Identifier: MIT
"""What scripts/reproduce is made of, in the order in which an experiment walks through it:
experiment (what is asked), runs (the simulator), tables (what came out), claims (what that says of
the published), drawing and page (for readers). docs/reproduce.md says what a YAML may hold."""


class InputError(Exception):
    """Something in an experiment's files, or a run of it, is wrong; the text says where and what."""
