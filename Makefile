# retrace: `make demo` shows it, `make test` proves it. Each of them sets up what it needs first.

export RETRACE_CACHE ?= $(HOME)/.cache/retrace
export CARGO_TARGET_DIR ?= $(RETRACE_CACHE)/target
export PATH := $(RETRACE_CACHE)/bin:$(PATH):$(HOME)/.cargo/bin

RETRACE := $(CARGO_TARGET_DIR)/debug/retrace

.PHONY: help setup build demo demo-nats test test-container test-docker test-krun test-rootless bench check fmt ci
.PHONY: check-tools check-format check-lints check-docs check-licences check-unused check-scripts
.DEFAULT_GOAL := help

help: ## show these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## install everything the other targets need (they call it themselves)
	@.ci/setup

build:
	@.ci/setup base
	@cargo build --locked -p retrace-runtime --bin retrace

demo: build ## an agent works on a real crate, without an API key: a script plays the model's part
	@$(RETRACE) demo

demo-nats: build ## the same demo, with its log in a real nats-server that is started for it
	@.ci/setup nats
	@.ci/with-nats $(RETRACE) demo

test: ## every test of the workspace, those of sandboxes on containers too (where Podman and Docker can run)
	@.ci/setup base nats test model podman
	@cargo test --locked --workspace --doc --quiet
	@cargo nextest run --locked --workspace $(if $(CI),--profile ci)
	@if .ci/with-podman sh -c 'podman run --rm --network none "$$(sandbox/image/build --tag)" true'; then \
		$(MAKE) --no-print-directory test-container; \
	else echo "=== the tests on containers were SKIPPED: Podman cannot run here"; fi
	@if .ci/setup docker && .ci/with-docker sh -c 'docker --host "unix://$$RETRACE_CONTAINER_SOCKET" run --rm --network none "$$(sandbox/image/build --tag)" true'; then \
		$(MAKE) --no-print-directory test-docker; \
	else echo "=== the tests on Docker were SKIPPED: it cannot run here"; fi

test-container: ## the sandbox's tests on containers, in a Podman of their own
	@.ci/setup base test podman
	@RETRACE_TEST_SANDBOX=container .ci/with-podman cargo nextest run --locked --workspace \
		-E 'binary(sandbox) | test(backend::podman) | test(containers::)' $(if $(CI),--profile ci)

test-docker: ## the same, as far as they are the sandbox's own, in a Docker of their own (as root)
	@.ci/setup base test docker
	@RETRACE_TEST_SANDBOX=container .ci/with-docker cargo nextest run --locked --workspace \
		-E 'binary(sandbox) | test(backend::podman)' $(if $(CI),--profile ci)

test-krun: ## the sandbox's tests on microVMs, in an emulated machine (building it the first time takes 10 minutes and root)
	@.ci/setup base test podman krun
	@tests/krun/suite

test-rootless: ## those on containers in a plain user's Podman, in such a machine (half an hour)
	@.ci/setup base test podman krun
	@tests/krun/suite --engine rootless --skip soak

bench: ## durable appends beside the disk's own fsync, and resuming long sessions
	@.ci/setup base nats
	@cargo bench --locked -p retrace-benches

check: check-format check-lints check-docs check-licences check-unused check-scripts ## lints, format, documentation, licences, unused dependencies

check-tools:
	@.ci/setup base lint

check-format: check-tools
	cargo fmt --all --check

check-lints: check-tools
	cargo clippy --locked --workspace --all-targets -- -D warnings

check-docs: check-tools
	RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" cargo doc --locked --workspace --no-deps --document-private-items

check-licences: check-tools
	cargo deny --locked check --hide-inclusion-graph licenses bans sources

check-unused: check-tools
	cargo shear

check-scripts: check-tools
	for script in .ci/setup .ci/with-nats .ci/with-podman .ci/with-docker .ci/run sandbox/image/build tests/krun/build tests/krun/init tests/krun/run tests/krun/suite; do bash -n $$script || exit 1; done
	for file in $$(git ls-files '*.py'); do python3 -c "compile(open('$$file').read(), '$$file', 'exec')" || exit 1; done

fmt: ## format the sources
	@cargo fmt --all

ci: ## what .ci/run does: test and check, from a clean clone
	@.ci/run
