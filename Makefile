# The words a person needs. Everything is done by tests/run, tests/demo/run and tests/harness/;
# here are only their names.
#
#   PG=15|16|17|18|all     which PostgreSQL (18); it is fetched and kept under target/
#   PG_CONFIG=/path        a PostgreSQL of your own instead; the version is taken from it
#   TIER="regress docs"    only these tiers of the tests

PG ?= 18
PG_CONFIG ?=
TIER ?=

# For 'make bench', each with a default of its own:
#   SECONDS=3 ROUNDS=5 CLIENTS=4 ROWS=200000   LONG=1 measures up to ten million records
#   ONLY="replay hot"      only these measures, printed and not kept; tests/harness/bench.sh --list
#   BENCH_OUT=folder       where the table and the chart go, instead of target/bench

BENCH = $(if $(SECONDS),--seconds '$(SECONDS)') $(if $(ROUNDS),--rounds '$(ROUNDS)') \
	$(if $(CLIENTS),--clients '$(CLIENTS)') $(if $(ROWS),--rows '$(ROWS)') \
	$(if $(LONG),--long) $(foreach measure,$(ONLY),--only '$(measure)')

# An empty PG_CONFIG means the embedded server.
WHICH = $(if $(PG_CONFIG),--pg-config '$(PG_CONFIG)',--pg '$(PG)')

.PHONY: help demo test bench install package clean

help:
	@echo 'make demo                       see it work on a throwaway server (nothing to prepare)'
	@echo 'make test                       every test; PG=15|16|17|18|all, TIER="regress isolation"'
	@echo 'make bench                      what it costs, side by side with doing it without; SECONDS=, LONG=1'
	@echo 'make install PG_CONFIG=/path    build a release and install it into that server'
	@echo 'make package PG_CONFIG=/path    the same files in a folder under target/, to pack or copy'
	@echo 'make clean                      remove what was built and fetched'

demo:
	@tests/demo/run $(WHICH)

test:
	@tests/run $(WHICH) $(TIER)

bench:
	@tests/harness/bench.sh $(WHICH) $(BENCH)

install:
	@tests/harness/install.sh install '$(PG_CONFIG)'

package:
	@tests/harness/install.sh package '$(PG_CONFIG)'

clean:
	@tests/harness/install.sh clean
