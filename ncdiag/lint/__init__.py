"""Lint: the NCCL settings of launch commands, scripts, manifests and conf files, judged before anything is run."""
