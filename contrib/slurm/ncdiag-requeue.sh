#!/bin/sh
# The last line of a batch script: puts a job that failed back into the queue if the report says that a restart is worth it.
#
#   #SBATCH --requeue --open-mode=append --output=job.log
#   ncdiag run --format json -o report.json -- srun ... || /opt/ncdiag/slurm/ncdiag-requeue.sh report.json
#
# It reads the field "restart" of the report:
#   restart                 the cause does not last: the job is requeued
#   restart-without-hosts   Slurm does not change the hosts of a running job: the line to submit it without them is printed
#   fix-first, or none      the job would fail again: nothing is done, and the reason is printed
# Exit code: 0 if the job was requeued, 1 if a restart is not worth it, 2 if the report cannot be read, 3 if it has to be
# submitted again without hosts. After MOST restarts nothing is requeued. SCONTROL and PYTHON may be set in the environment.
MOST=${MOST:-3}
SCONTROL=${SCONTROL:-scontrol}
PYTHON=${PYTHON:-python3}
report=${1:?usage: ncdiag-requeue.sh REPORT.json}
: "${SLURM_JOB_ID:?it is set in the batch script of a job}"

answer=$("$PYTHON" -c '
import json, re, sys
with open(sys.argv[1], encoding="utf-8") as file:
    restart = json.load(file)["restart"] or {"word": "none", "hosts": "", "reason": "the report names no cause"}
hosts = restart["hosts"]
if not re.fullmatch(r"[A-Za-z0-9_.,\[\]-]*", hosts):
    raise SystemExit("these are not names of hosts: " + ascii(hosts))
print(restart["word"], hosts or "-", " ".join(restart["reason"].split()))
' "$report") || { echo "ncdiag-requeue: $report is not a report of ncdiag" >&2; exit 2; }
word=${answer%% *}
rest=${answer#* }
hosts=${rest%% *}
reason=${rest#* }
[ "$hosts" = - ] && hosts=

case $word in
    restart | restart-without-hosts) ;;
    *) echo "ncdiag-requeue: not requeued: $reason" >&2; exit 1 ;;
esac
if [ "${SLURM_RESTART_COUNT:-0}" -ge "$MOST" ]; then
    echo "ncdiag-requeue: not requeued: it was restarted $SLURM_RESTART_COUNT times already; $reason" >&2
    exit 1
fi
if [ "$word" = restart-without-hosts ]; then
    if [ -z "$hosts" ] || [ "$hosts" = unnamed-host ]; then
        echo "ncdiag-requeue: not requeued: the report does not name the host; $reason" >&2
        exit 1
    fi
    excluded=$("$SCONTROL" --oneliner show job "$SLURM_JOB_ID" | tr ' ' '\n' | sed -n 's/^ExcNodeList=//p')
    case $excluded in "" | "(null)") ;; *) hosts=$excluded,$hosts ;; esac
    echo "ncdiag-requeue: submit it again: sbatch --exclude=$hosts ...: $reason" >&2
    exit 3
fi
echo "ncdiag-requeue: requeued: $reason" >&2
exec "$SCONTROL" requeue "$SLURM_JOB_ID"
