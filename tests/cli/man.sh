#!/bin/bash
# SPDX-License-Identifier: MIT
# The man page names every option, key and status, and troff takes it.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"

page=$root/docs/themis-sim.1
sed 's/\\//g' "$page" >plain

# in_page TEXT
in_page() {
	if grep -qF -- "$1" plain; then pass; else fail "themis-sim.1 says nothing of $1"; fi
}

for command in run policies 'trace stats' 'trace validate' 'trace convert' 'trace generate'; do
	# shellcheck disable=SC2086
	sim $command --help
	ends_with 0
	while read -r option; do
		in_page "$option"
	done < <(grep -oE '^  (-[a-z], )?--[a-z-]+' out | grep -oE -- '--[a-z-]+')
done
sim --help
while read -r command; do
	in_page "$command"
done < <(awk '/^  [a-z]/ { print $1 }' out)
for key in cluster trace models policies seed overheads window stop_s out tz segments timeline stream \
	skip_bad_rows allow_rejected allow_unfinished strict paranoid quiet threads start_s suspend_s \
	resume_s migrate_s checkpoint_every_s from_s to_s; do
	in_page "$key"
done
for status in 0 1 2 3 4 5 130; do in_page ".B $status"; done
holds test "$(grep -n '^.SH UNITS' "$page" | cut -d: -f1)" -lt "$(grep -n '^.SH COMMANDS' "$page" | cut -d: -f1)"
if command -v groff >/dev/null; then
	holds test -z "$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)"
else
	echo 'SKIP: no groff to format the man page with'
fi
finish
