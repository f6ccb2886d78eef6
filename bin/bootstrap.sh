# Sourced by ./penstock and ./test, which set $root: makes $root/.venv match requirements.lock.
# When it already does, this costs one `cmp`. Otherwise it finds a Python and hands over to
# make_venv.py, which does the work.

# Print the first Python on PATH that can build the environment, or say what to install.
find_python() {
    unusable=
    for candidate in python3.13 python3.12 python3.11 python3 python3.14 python; do
        # A name on PATH proves little: version managers leave stubs there. So run it.
        version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
            continue
        case $version in
        3.1[1-9] | 3.[2-9][0-9])
            # Some systems package these two apart from Python.
            if "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
                command -v "$candidate"
                return
            fi
            unusable="$candidate cannot create virtual environments (on Debian and Ubuntu: apt install python$version-venv)"
            ;;
        *) unusable=${unusable:-$candidate is Python $version} ;;
        esac
    done
    echo "penstock: needs Python 3.11 or newer on PATH; ${unusable:-found none}." >&2
    return 1
}

if [ ! -x "$root/.venv/bin/python" ] ||
    ! cmp -s "$root/requirements.lock" "$root/.venv/requirements.lock"; then
    python=$(find_python) || exit 1
    "$python" "$root/bin/make_venv.py" "$root" || exit
fi
