#!/bin/sh
# Epilog of Slurm: a node that a job leaves with an error is drained ("Epilog error") before the next job comes; what was
# found is in syslog.
#
#   slurm.conf:  Epilog=/opt/ncdiag/slurm/ncdiag-epilog.sh
exec "${0%/*}/ncdiag-health.sh" fail
