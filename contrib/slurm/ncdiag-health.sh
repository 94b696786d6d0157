#!/bin/sh
# HealthCheckProgram of Slurm: drains this node when ncdiag finds an error on it.
#
#   slurm.conf:  HealthCheckProgram=/opt/ncdiag/slurm/ncdiag-health.sh
#                HealthCheckInterval=300
#                HealthCheckNodeState=ANY,CYCLE
#
# It drains on CRITICAL alone. A warning, an UNKNOWN, a crash of ncdiag, a program that is missing or too slow: the node
# stays as it is, and syslog says where there was no answer. It never resumes a node, and leaves one alone that is drained
# already. "ncdiag-health.sh fail" (the prolog and the epilog) drains nothing and exits with 1 instead.
#
# Settings are the variables below; a file ncdiag-slurm.conf beside this script may set them, and SLURM_CONF where scontrol
# needs it: slurmd hands over SLURMD_NODENAME and nothing else, not even PATH.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
NCDIAG=ncdiag         # the program; its path where PATH has not got it
OPTIONS=--no-nccl     # more options of "ncdiag check", such as --ignore RULE or --config FILE
LIMIT=30              # seconds for the check; slurmd kills a HealthCheckProgram after 60
here=$(cd "${0%/*}" && pwd) || exit 0
[ -r "$here/ncdiag-slurm.conf" ] && . "$here/ncdiag-slurm.conf"
LC_ALL=C
export PATH LC_ALL
[ -n "${SLURM_CONF:-}" ] && export SLURM_CONF
action=${1:-drain}
cd / || exit 0        # no ncdiag.toml of a user's folder counts

# shellcheck disable=SC2086  # OPTIONS are words
answer=$(timeout -k 5 "$LIMIT" "$NCDIAG" check --exit-style nagios --quiet $OPTIONS </dev/null 2>/dev/null)
code=$?
line=${answer%%"
"*}
line=${line%% | *}
# A Python that fails to start can end with 2 as well: only a state and its line together are an answer.
log() { command -v logger >/dev/null && logger -t ncdiag -p "daemon.$1" -- "$2"; }
case $code:$line in
    "2:NCDIAG CRITICAL: "*) ;;
    "0:NCDIAG OK: "* | "1:NCDIAG WARNING: "*) exit 0 ;;
    *) log warning "the node was not judged: exit code $code${line:+, $line}"; exit 0 ;;
esac

reason=$(printf '%s' "ncdiag: ${line#NCDIAG CRITICAL: }" | tr -cd '[:print:]' | tr -d '"' | cut -c 1-200)
log err "$reason"
if [ "$action" = fail ]; then
    printf '%s\n' "$reason" >&2
    exit 1
fi
node=${SLURMD_NODENAME:-$(hostname -s)}
case $(timeout 8 scontrol --oneliner show node "$node") in
    *State=*DRAIN*) ;;
    *) timeout 8 scontrol update NodeName="$node" State=DRAIN Reason="$reason" ;;
esac
exit 0
