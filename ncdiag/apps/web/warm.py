"""What an analysis needs, loaded by an import: for the process from which those of the analyses are forked."""

from ncdiag.apps.web.worker import warm_up

warm_up()
