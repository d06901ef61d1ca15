# SPDX-License-Identifier: MIT
#
# themis-sim: one Makefile, no configure, no recursion into folders.
#
#   make                        build/themis-sim
#   make run                    replay the sample trace and plot it
#   make check                  all tests, short versions; check-long runs the long ones
#   make lint                   format, floors of the house, headers alone, static analysis
#   make bench                  measure the engine
#   make reproduce [QUICK=1]    remake the evaluation of the Themis paper: results/themis-nsdi20
#   make install                PREFIX and DESTDIR as usual
#   make format clean
#
# CC=clang, OPT=-O0, CFLAGS=..., SAN=address,undefined: each set has a folder of its own below
# build/, so that objects never mix; build/themis-sim is the plain one. WERROR=1 makes warnings
# errors, V=1 shows the commands.

VERSION := 0.1.0
PREFIX  ?= /usr/local
OPT     ?= -O2
ifeq ($(origin CC),default)
CC := gcc
endif

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: all run run-now check check-now check-long check-long-now bench bench-now reproduce \
	reproduce-now lint lint-format lint-layers lint-headers lint-cppcheck lint-scripts install \
	clean format FORCE

all:

# The folder

empty :=
space := $(empty) $(empty)
comma := ,
user  := $(strip $(CFLAGS) $(CPPFLAGS) $(LDFLAGS))
words := $(if $(SAN),san-$(subst $(comma),-,$(SAN))) \
	 $(filter-out gcc cc,$(notdir $(lastword $(CC)))) \
	 $(patsubst -%,%,$(filter-out -O2,$(OPT))) \
	 $(if $(user),flags-$(shell printf '%s' '$(user)' | cksum | cut -d' ' -f1))
CONFIG  := $(or $(subst $(space),-,$(strip $(words))),release)
B       := build/$(CONFIG)
PROGRAM := $(if $(filter release,$(CONFIG)),build/themis-sim,$B/themis-sim)

# Flags

PACKAGES   := gmodule-2.0 glib-2.0 yaml-0.1 zlib clp
# As headers of the system: warnings are for our own.
PKG_CFLAGS := $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(PACKAGES) check 2>/dev/null))
PKG_LIBS   := $(shell pkg-config --libs $(PACKAGES) 2>/dev/null)
CHECK_LIBS  = $(shell pkg-config --libs check)
WARN  := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wvla \
	 -Wno-unused-parameter -Werror=implicit-function-declaration $(if $(WERROR),-Werror)
sans  := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
ours   = -std=gnu17 $(OPT) -g -ffp-contract=off -fno-fast-math -I. $(WARN) $(sans) $(PKG_CFLAGS)
LINK   = $(CC) -rdynamic -Wl,--as-needed $(sans) $(CFLAGS) $(LDFLAGS)
COMMIT := $(or $(shell GIT_OPTIONAL_LOCKS=0 git describe --always --dirty --abbrev=12 \
	   --exclude '*' 2>/dev/null),unknown)

Q   := $(if $(V),,@)
say  = @printf '  %-8s %s\n' '$1' '$2'

# What there is

SRC     := sim/main.c $(wildcard sim/*/*.c policies/*.c policies/*/*.c traces/*.c)
HEADERS := $(wildcard sim/*.h sim/*/*.h policies/*.h policies/*/*.h traces/*.h tests/*.h)
TESTS   := $(wildcard tests/test_*.c tests/prop_*.c tests/val_*.c)
# Other files of tests/ are linked into every test program; rogue policies become modules.
HELPERS := $(filter-out $(TESTS),$(wildcard tests/*.c))
ROGUES  := $(wildcard tests/rogue/*.c)
SCRIPTS := $(wildcard tests/cli/*.sh)
PRETTY  := $(SRC) $(HEADERS) $(TESTS) $(HELPERS) $(ROGUES) $(wildcard tests/*/*.h tests/fuzz/*.c)

obj         = $(patsubst %.c,$B/%.o,$1)
PROGRAM_OBJ := $(call obj,$(SRC))
TEST_OBJ    := $(filter-out $B/sim/main.o,$(PROGRAM_OBJ)) $(call obj,$(HELPERS))
# A sanitizer looks at memory: what looks at means of long runs, or at pictures, has no more to say.
ifneq ($(SAN),)
TESTS   := $(filter-out tests/val_%,$(TESTS))
SCRIPTS := $(filter-out tests/cli/plot.sh tests/cli/reproduce.sh,$(SCRIPTS))
endif
TEST_BIN    := $(patsubst %.c,$B/%,$(TESTS))
ROGUE_SO    := $(patsubst %.c,$B/%.so,$(ROGUES))

# Building

all: $(PROGRAM)

$(PROGRAM): $(PROGRAM_OBJ)
	$(call say,LINK,$@)
	$Q$(LINK) $^ $(PKG_LIBS) $(LDLIBS) -lm -o $@

$B/%.o: %.c Makefile
	$(if $(PKG_LIBS),,$(error libraries are missing: run scripts/install-deps))
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$Q$(CC) $(ours) -MMD -MP $(CPPFLAGS) $(CFLAGS) -c $< -o $@

$(TEST_BIN): $B/%: $B/%.o $(TEST_OBJ)
	$(call say,LINK,$@)
	$Q$(LINK) $^ $(PKG_LIBS) $(CHECK_LIBS) $(LDLIBS) -lm -o $@

$B/%.so: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$Q$(CC) $(ours) -fPIC -shared -MMD -MP $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $< -o $@

# One file knows the version and commit; it is compiled anew only when they change.
$B/version: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION) $(COMMIT)' | cmp -s - $@ || echo '$(VERSION) $(COMMIT)' > $@
$B/sim/cli/version.o: $B/version
$B/sim/cli/version.o: ours += -DSIM_VERSION='"$(VERSION)"' -DSIM_COMMIT='"$(COMMIT)"'
FORCE:

-include $(wildcard $B/*/*.d $B/*/*/*.d)

print-program:
	@echo $(PROGRAM)

# Running. The second stage asks pkg-config again, for what has just been installed.

STAGE = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

run check check-long bench reproduce:
	@scripts/install-deps
	@$(STAGE) $@-now

run-now: $(PROGRAM)
	$(PROGRAM) run traces/samples/quickstart.yaml --out results/quickstart
	scripts/plot results/quickstart

# Absolute paths, since a test may change its folder.
TEST_ENV = THEMIS_SIM='$(abspath $(PROGRAM))' THEMIS_ROOT='$(CURDIR)' THEMIS_BUILD='$(abspath $B)' \
	   CC='$(CC)' $(if $(SAN),G_SLICE=always-malloc THEMIS_SAN='$(SAN)')

check-now: $(PROGRAM) $(TEST_BIN) $(ROGUE_SO)
	@$(TEST_ENV) scripts/run-tests $(TEST_BIN) $(SCRIPTS)

check-long-now: $(PROGRAM) $(TEST_BIN) $(ROGUE_SO)
	@THEMIS_LONG=1 $(TEST_ENV) scripts/run-tests $(TEST_BIN) $(SCRIPTS)

bench-now: $(PROGRAM)
	scripts/bench $(PROGRAM)

reproduce-now: $(PROGRAM)
	scripts/reproduce --program $(PROGRAM) $(if $(QUICK),--quick)

# Looking

lint: lint-format lint-layers lint-headers lint-cppcheck lint-scripts

lint-format:
	$(call say,FORMAT,*.c *.h)
	$Qclang-format --dry-run -Werror $(PRETTY)

lint-layers: $(PROGRAM_OBJ)
	$(call say,LAYERS,sim policies traces)
	$Qscripts/check-layers $B

lint-scripts:
	$(call say,SHELL,scripts .ci tests/cli)
	$Qif command -v shellcheck >/dev/null; then \
		shellcheck $$(grep -d skip -lE '^#!.*(bash|/sh)' scripts/* .ci/* tests/cli/*.sh); fi

lint-headers: $(HEADERS:%=$B/%.ok)

# Two macros as cppcheck must see them: it would take what an array has taken over for a leak.
CPPCHECK_DEFINES = '-DG_GNUC_PRINTF(a,b)=' '-Dg_array_append_val(a,v)=array_take(a,&(v))'

lint-cppcheck:
	$(call say,CPPCHECK,sim policies traces)
	$Qcppcheck --quiet --std=c11 --library=gtk --inline-suppr --error-exitcode=1 \
		--enable=warning,performance,portability $(CPPCHECK_DEFINES) -I. $(SRC)

$B/%.h.ok: %.h Makefile
	@mkdir -p $(@D)
	$(call say,HEADER,$<)
	$Q$(CC) $(ours) -Werror -fsyntax-only -MMD -MP -MF $(@:.ok=.d) -MT $@ \
		-xc -include $< /dev/null && touch $@

format:
	clang-format -i $(PRETTY)

# Installing

SHARE   = $(DESTDIR)$(PREFIX)/share
INCLUDE = $(DESTDIR)$(PREFIX)/include/themis-sim
SAMPLES = $(shell find traces/models.yaml traces/samples -type f)
# sim/policy.h and whatever it includes, in their folders: add -I$(PREFIX)/include/themis-sim.
POLICY_HEADERS = $(filter sim/% policies/%,$(shell $(CC) $(ours) -MM -xc sim/policy.h))

install: $(PROGRAM)
	install -Dm755 $(PROGRAM) '$(DESTDIR)$(PREFIX)/bin/themis-sim'
	install -Dm644 docs/themis-sim.1 '$(SHARE)/man/man1/themis-sim.1'
	@for file in $(SAMPLES); do install -Dm644 $$file "$(SHARE)/themis-sim/$$file"; done
	@for file in $(POLICY_HEADERS); do install -Dm644 $$file "$(INCLUDE)/$$file"; done

clean:
	rm -rf build
