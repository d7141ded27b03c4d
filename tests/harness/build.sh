# shellcheck shell=bash
# The one way the extension gets into a server. Every version shares one target folder, and cargo's
# own lock keeps two builds from running at once.

# install_extension PG_CONFIG [--release]: for tests without --release, so that everything below the
# extension is shared with 'cargo pgrx test'.
install_extension() {
    local pg_config=$1 major dir
    shift
    major=$(pg_config_major "$pg_config")
    for dir in "$("$pg_config" --pkglibdir)" "$("$pg_config" --sharedir)/extension"; do
        [ -w "$dir" ] || die "cannot write to $dir: install as the user who owns that server"
    done
    pgrx_home "$major" "$pg_config"
    logged "install-$major" in_root cargo pgrx install --pg-config "$pg_config" \
        --no-default-features --features "pg$major" "$@"
    # What was installed with a tight umask must still be readable to the server.
    chmod a+r "$("$pg_config" --pkglibdir)/idempotency.so" \
        "$("$pg_config" --sharedir)"/extension/idempotency*
}

in_root() { (cd "$ROOT" && "$@" 9>&-); }

# A pgrx home of our own: the user's ~/.pgrx, if there is one, stays as it is.
pgrx_home() {
    local port
    export PGRX_HOME=$TARGET/pgrx/$1
    mkdir -p "$PGRX_HOME"
    # The server of 'cargo pgrx test' listens on a port of localhost: one of this tree's own.
    port=$((20000 + $(printf '%s' "$ROOT" | cksum | cut -d' ' -f1) % 400 * 20))
    printf 'base_testing_port = %s\n[configs]\npg%s = "%s"\n' "$port" "$1" "$2" \
        >"$PGRX_HOME/config.toml.new"
    # Untouched when equal: cargo rebuilds the bindings when this file is newer than they are.
    if cmp -s "$PGRX_HOME/config.toml.new" "$PGRX_HOME/config.toml"; then
        rm "$PGRX_HOME/config.toml.new"
    else
        mv "$PGRX_HOME/config.toml.new" "$PGRX_HOME/config.toml"
    fi
}
