#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every policy on two small traces gives the committed tables, to the byte.
cd "${THEMIS_ROOT:-.}" && exec scripts/golden --check "${THEMIS_SIM:-build/themis-sim}"
