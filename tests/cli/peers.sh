#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# preset=authors beside what the simulator of Themis's authors made of the same workloads, which are
# not part of the project: long, and only where they are found.
set -u

program=${THEMIS_SIM:-build/themis-sim}
root=${THEMIS_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
shared=$root/../shared
if [ -z "${THEMIS_LONG-}" ]; then
	echo "SKIP: a long test"
	exit 77
fi
if ! command -v python3 >/dev/null || [ ! -d "$shared/reference/themis-authors" ]; then
	echo "SKIP: no python3, or no ../shared/reference/themis-authors"
	exit 77
fi
PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/peers/themis_authors.py" "$program" "$shared" \
	--variants 15
