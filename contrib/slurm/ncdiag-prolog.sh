#!/bin/sh
# Prolog of Slurm: no job starts on a node on which ncdiag finds an error. slurmd then drains the node ("Prolog error")
# and requeues the job, held unless SchedulerParameters has nohold_on_prolog_fail; what was found is in syslog. The job
# waits for this check: keep LIMIT short.
#
#   slurm.conf:  Prolog=/opt/ncdiag/slurm/ncdiag-prolog.sh
#                PrologFlags=Alloc
exec "${0%/*}/ncdiag-health.sh" fail
