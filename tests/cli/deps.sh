#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/install-deps on machines that lack things, told by stubs: nothing is installed here.
# shellcheck disable=SC1091,SC2016,SC2034,SC2154
. "$(dirname "$0")/common.bash"

wants='install -y --no-install-recommends build-essential pkg-config libglib2.0-dev'

# stub NAME LINE: a program of the pretended machine.
stub() {
	printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

# deps ARGUMENT...: on the pretended machine, which has nothing but the stubs and a few tools.
deps() {
	said="install-deps $* on a machine with $(echo "$work"/bin/*)"
	PATH=$work/bin "$root/scripts/install-deps" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

mkdir "$work/bin"
for tool in bash env cat grep cut sh; do
	ln -s "$(command -v $tool)" "$work/bin/$tool"
done

# Nothing is missing: nothing is said or done.
stub dpkg-query 'shift 3; for package; do echo "installed $package"; done'
stub apt-get 'echo "apt-get $DEBIAN_FRONTEND $*"; exit 1'
stub id 'echo 0'
deps
ends_with 0
if [ -s "$work/out" ] || [ -s "$work/err" ]; then fail "it said something"; else pass; fi

# All is missing: it is installed, by root without asking anybody.
stub dpkg-query 'exit 1'
stub pkg-config 'exit 1'
stub apt-get 'echo "apt-get $DEBIAN_FRONTEND $*"'
deps
ends_with 0
prints "apt-get noninteractive update"
prints "apt-get noninteractive $wants"
deps --dev
ends_with 0
prints "clang-format"

# By others with sudo; without it they are told what to do.
stub id 'echo 1000'
deps
ends_with 1
complains "please run as root: apt-get update && apt-get $wants"
stub sudo 'echo "sudo: $*"'
deps
ends_with 0
prints "sudo: env DEBIAN_FRONTEND=noninteractive apt-get $wants"
rm "$work/bin/sudo"

# Libraries that are not packages will do.
stub pkg-config 'exit 0'
deps
ends_with 0
complains "please run as root"

# A source that is out of reach is no reason not to try the others.
stub id 'echo 0'
stub pkg-config 'exit 1'
stub apt-get 'echo "apt-get $*"; [ "$1" != update ]'
deps
ends_with 0
prints "$wants"
stub apt-get 'exit 100'
deps
ends_with 1

# Without apt: the packages by name, unless all is there.
rm "$work/bin/apt-get" "$work/bin/dpkg-query"
deps
ends_with 1
complains "this system has no apt-get"
complains "GLib 2.74 or later"
complains "CLP (COIN-OR"
stub pkg-config 'exit 0'
deps
ends_with 0
if [ -s "$work/err" ]; then fail "it complained"; else pass; fi

deps --all
ends_with 2

finish
