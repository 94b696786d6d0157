#!/bin/sh
# Plugin of node-problem-detector's custom plugin monitor: 0 the node is fine, 1 ncdiag found an error, 2 unknown.
#
#   ncdiag-npd.sh FILE [SECONDS]   reads the status line that check-daemonset.yaml keeps in FILE; one that is older than
#                                  SECONDS (1800) is unknown. The image of node-problem-detector has no Python.
#   ncdiag-npd.sh                  runs ncdiag itself, where node-problem-detector is a service of the host.
#
# A warning is 0 with its text: a condition of a node is for what breaks jobs.
PATH=$PATH:/usr/local/bin:/usr/bin:/bin
limit=${NCDIAG_LIMIT:-50} # seconds; below "timeout" of ncdiag-monitor.json
file=${1:-}
if [ -n "$file" ]; then
    now=$(date +%s)
    written=$(stat -c %Y "$file" 2>/dev/null) || { echo "ncdiag: no $file"; exit 2; }
    [ $((now - written)) -le "${2:-1800}" ] || { echo "ncdiag: $file is $((now - written)) s old"; exit 2; }
    IFS= read -r line <"$file"
else
    line=$(timeout -k 5 "$limit" "${NCDIAG:-ncdiag}" check --no-nccl --quiet --format nagios </dev/null 2>/dev/null)
    line=${line%%"
"*}
fi
line=${line%% | *}
case $line in
    "NCDIAG OK: "* | "NCDIAG WARNING: "*) code=0 ;;
    "NCDIAG CRITICAL: "*) code=1 ;;
    *) code=2 ;;
esac
echo "${line:-ncdiag: no answer}"
exit $code
