#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# preset=authors beside the program that it follows: where they part, on a few jobs; and, long, on the
# workloads of that program, which are not part of the project, and only where they are found. That
# takes under a minute on two idle cores.
set -u

program=${THEMIS_SIM:-build/themis-sim}
root=${THEMIS_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
shared=$root/../shared
export PYTHONDONTWRITEBYTECODE=1
if ! command -v python3 >/dev/null; then
	echo "SKIP: no python3"
	exit 77
fi
python3 "$root/tests/peers/themis_small.py" "$program" || exit 1
if [ -z "${THEMIS_LONG-}" ]; then
	exit 0
fi
if [ ! -d "$shared/reference/themis-authors" ]; then
	echo "SKIP: no ../shared/reference/themis-authors"
	exit 77
fi
python3 "$root/tests/peers/themis_authors.py" "$program" "$shared"
