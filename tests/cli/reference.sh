#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Random small traces come out as the slow and simple simulator of tests/reference has them, cell
# by cell. THEMIS_LONG=1 tries many more; SEED and CASES try others.
set -u

program=${THEMIS_SIM:-build/themis-sim}
root=${THEMIS_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
if ! command -v python3 >/dev/null; then
	echo "SKIP: no python3"
	exit 77
fi
first=${SEED:-1}
cases=${CASES:-60}
if [ -n "${THEMIS_LONG-}" ]; then
	cases=${CASES:-3000}
fi
echo "seeds $first to $((first + cases - 1))"
PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/reference/check.py" "$program" \
	--from "$first" --cases "$cases" --gpus --shrink
