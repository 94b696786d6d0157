#!/bin/sh
# Looks at this host and prints what it saw as text, for `ncdiag triage`; it changes nothing.
#
# Made by `ncdiag collect --script` (ncdiag @VERSION@) for hosts without a Python; any POSIX shell runs it:
#
#     ssh NODE sh -s < THIS_FILE > NODE.txt
#
# Values of variables whose names promise a secret are replaced.

LC_ALL=C LANGUAGE= TERM=dumb PAGER=cat SYSTEMD_PAGER=
PATH=${PATH:+$PATH:}/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin
export LC_ALL LANGUAGE TERM PAGER SYSTEMD_PAGER PATH
umask 077
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncdiag.XXXXXX") || { echo "ncdiag: mktemp cannot make a folder" >&2; exit 4; }
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM
ulimit -c 0

# limited SECONDS COMMAND...: end it, with its children where the system can, when its time is up
if command -v timeout >/dev/null 2>&1; then
    limited() { timeout -s KILL "$@"; }
else
    limited() {
        seconds=$1
        shift
        "$@" &
        child=$!
        (sleep "$seconds"; kill -9 "$child") >/dev/null 2>&1 &
        wait "$child"
    }
fi

# start NAME SECONDS COMMAND...: run it beside the others; at most 8 MiB of output
started=
start() {
    name=$1 seconds=$2
    shift 2
    started="$started $name"
    if ! command -v "$1" >/dev/null 2>&1; then
        echo 127 >"$tmp/$name.status"
        return
    fi
    (
        ulimit -f 16384
        limited "$seconds" "$@" </dev/null >"$tmp/$name.out" 2>"$tmp/$name.err"
        echo $? >"$tmp/$name.status"
    ) 2>/dev/null &
}

# there PATH...: does one of them exist?
there() {
    for path in "$@"; do
        if [ -e "$path" ]; then return 0; fi
    done
    return 1
}

# show NAME COMMAND_LINE: what it printed, and how it ended
show() {
    if ! there "$tmp/$1.status" "$tmp/$1.out"; then return; fi
    printf '$ %s\n' "$2"
    sed -e 's/^# ncdiag/ &/' -e 's/^==> / &/' -e 's/^\$ / &/' "$tmp/$1.out" 2>/dev/null
    printf '\n# ncdiag status %s %s\n' "$(cat "$tmp/$1.status" 2>/dev/null || echo 124)" \
        "$(tail -n 1 "$tmp/$1.err" 2>/dev/null)"
}

# folders PATH...: their entries
folders() {
    for path in "$@"; do
        if [ -d "$path" ]; then
            printf '# ncdiag folder %s\n' "$path"
            ls -A "$path"
        fi
    done
}

# files PATH...: their contents; links and what is there
files() {
    found=
    for path in "$@"; do
        case $path in *[[:space:]]*) continue ;; esac
        if [ -h "$path" ]; then printf '# ncdiag link %s %s\n' "$path" "$(readlink "$path")"; fi
        if [ -f "$path" ]; then
            case $path in
                */config) hexadecimal "$path" ;;
                *) found="$found $path" ;;
            esac
        fi
        if [ -e "$path" ]; then printf '# ncdiag present %s\n' "$path"; fi
    done
    # head prints the names when there are several; why a file cannot be read goes to standard error
    if [ -n "$found" ]; then
        head -n 20000 $found /dev/null 2>"$tmp/refused"
        echo
        sed -n -e "s/^head: [^/]*'\(\/[^']*\)'[^:]*: \(.*\)/# ncdiag refused \1 \2/p" \
            -e 's/^head: \(\/[^:]*\): \(.*\)/# ncdiag refused \1 \2/p' "$tmp/refused"
    fi
}

# hexadecimal PATH: the configuration of a PCI bridge, which root alone can read as a whole
hexadecimal() {
    case $(cat "${1%/config}/class" 2>/dev/null) in
        0x0604*)
            printf '# ncdiag hex %s\n' "$1"
            od -A n -v -t x1 "$1" 2>/dev/null
            ;;
    esac
}

# groups PATTERN_BEFORE PATTERN_BEHIND: files of the control groups of this process, up to the root
groups() {
    cut -d : -f 3- /proc/self/cgroup 2>/dev/null | while read -r group; do
        while [ -n "$group" ] && [ "$group" != / ]; do
            files "$1$group/$2"
            group=${group%/*}
        done
    done
    files "$1/$2"
}

look() {
@FILES@
}

libraries() {
    { echo "$LD_LIBRARY_PATH" | tr : '\n'; cat <<'END'
@FOLDERS@
END
    } | while read -r folder; do
        for path in "$folder"/$1; do
            if [ -n "$folder" ] && [ -f "$path" ]; then readlink -f "$path"; fi
        done
    done | awk '!seen[$0]++'
}

@START@
(ulimit -f 131072; look >"$tmp/look.out" 2>/dev/null; echo $? >"$tmp/look.status") &

waited=0
for name in $started look; do
    while [ ! -e "$tmp/$name.status" ] && [ "$waited" -lt @DEADLINE@ ]; do
        sleep 1
        waited=$((waited + 1))
    done
done

{
    printf '# ncdiag @FORMAT@ %s %s\n' "$(uname -n)" "$(date +%s)"
    printf '# ncdiag user %s\n' "$(id -u)"
@SHOW@
    printf '# ncdiag environment\n'
    env | grep -E '^(HOME|@KEPT@)='
    printf '# ncdiag libraries\n'
    libraries '@LIBRARIES@'
    printf '# ncdiag plugins\n'
    libraries '@PLUGINS@'
    cat "$tmp/look.out" 2>/dev/null
    printf '\n# ncdiag end\n'
} 2>/dev/null | sed @HIDE@
