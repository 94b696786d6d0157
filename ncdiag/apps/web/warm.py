"""Imports everything that an analysis needs, for the process from which analyses are forked."""

from ncdiag.apps.web.worker import warm_up

warm_up()
