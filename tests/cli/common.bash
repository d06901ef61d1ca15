# SPDX-License-Identifier: MIT
# What the command-line tests share; sourced, not run. Nothing is printed but on failure, and a last
# line that counts. Each test works in a folder of its own, $work.
# shellcheck shell=bash

set -u

root=${THEMIS_ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
program=$(realpath "${THEMIS_SIM:-$root/build/themis-sim}")
[ -x "$program" ] || { echo "there is no program ${THEMIS_SIM:-$root/build/themis-sim}"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset LANG LC_ALL LC_NUMERIC TZ
n_passed=0
n_failed=0

# sim ARGUMENT...: runs the program; what it says is in the files out and err, and $status.
sim() {
	said="themis-sim $*"
	"$program" "$@" >"$work/out" 2>"$work/err"
	status=$?
}

pass() {
	n_passed=$((n_passed + 1))
}

# fail WHAT: with what the last run said.
fail() {
	n_failed=$((n_failed + 1))
	echo "$1"
	echo "    after: ${said:-nothing}"
	if [ -f "$work/err" ]; then
		head -n 20 "$work/out" "$work/err" | sed 's/^/    /'
	fi
}

# ends_with STATUS
ends_with() {
	if [ "$status" -eq "$1" ]; then pass; else fail "status $status, wanted $1"; fi
}

# complains TEXT, prints TEXT: the text is part of stderr, of stdout.
complains() {
	if grep -qF -- "$1" "$work/err"; then pass; else fail "no \"$1\" on stderr"; fi
}

prints() {
	if grep -qF -- "$1" "$work/out"; then pass; else fail "no \"$1\" on stdout"; fi
}

# refuses STATUS TEXT ARGUMENT...: the program ends so and says so, and no output is there.
refuses() {
	local wanted=$1 text=$2
	shift 2
	sim "$@"
	ends_with "$wanted"
	complains "$text"
	is_absent "$work/results"
}

# is_absent PATH...
is_absent() {
	local path
	for path in "$@"; do
		if [ -e "$path" ]; then fail "$path is there"; else pass; fi
	done
}

# is_there PATH...
is_there() {
	local path
	for path in "$@"; do
		if [ -e "$path" ]; then pass; else fail "$path is not there"; fi
	done
}

# holds COMMAND...: the command succeeds.
holds() {
	if "$@" >"$work/held" 2>&1; then
		pass
	else
		fail "does not hold: $*"
		head -n 20 "$work/held" | sed 's/^/    /'
	fi
}

# has_lines N FILE...
has_lines() {
	local wanted=$1 file n
	shift
	for file in "$@"; do
		n=$(wc -l 2>/dev/null <"$file")
		if [ "$n" = "$wanted" ]; then pass; else fail "$file has \"$n\" lines, wanted $wanted"; fi
	done
}

# cell FILE COLUMN [ROW]: of a CSV; the first row is 1. What is quoted comes back as Q.
cell() {
	sed -E 's/"([^"]|"")*"/Q/g' "$1" 2>/dev/null | awk -F, -v column="$2" -v row="${3:-1}" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) found = i }
		NR == row + 1 { print $found }'
}

# has VALUE FILE COLUMN [ROW]
has() {
	local value
	value=$(cell "$2" "$3" "${4:-1}")
	if [ "$value" = "$1" ]; then pass; else fail "$3 in row ${4:-1} of $2 is \"$value\", wanted \"$1\""; fi
}

# no_leftovers FOLDER: nothing with a temporary name is in it.
no_leftovers() {
	holds test -z "$(find "$1" -name '.*.tmp*' 2>/dev/null)"
}

# compile NAME [FLAG...]: NAME.c to the shared object NAME.so.
compile() {
	local name=$1 compiler flags
	shift
	read -ra compiler <<<"${CC:-gcc}"
	read -ra flags < <(pkg-config --cflags glib-2.0)
	"${compiler[@]}" -shared -fPIC -I"$root" "${flags[@]}" "$@" "$name.c" -o "$name.so"
}

finish() {
	echo "$n_passed passed, $n_failed failed"
	[ "$n_failed" -eq 0 ]
}
