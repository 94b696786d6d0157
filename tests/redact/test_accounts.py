"""Under redaction, what identifies a customer gets a stand-in: serial numbers, accounts, projects, clusters."""

from __future__ import annotations

import re

import pytest
from cleaning import KEY, clean

from ncdiag.apps.redact import Redactor, cleaned
from ncdiag.formats.secrets.hiding import Hiding
from ncdiag.text import TextSource

NAMED = (
    ("    Serial Number                     : §", "1653221077812"),
    ("Board serial § replaced", "1653221077812"),
    ('{"serial": "§", "slot": 3}', "1653221077812"),
    ("Service Tag: §", "7QK4XZ2"),
    ("RMA for S/N §", "MT2231X04417"),
    ("docker pull §.dkr.ecr.eu-west-1.amazonaws.com/llm:4", "480211739566"),
    ("arn:aws:iam::§:role/nodes", "480211739566"),
    ("Account ID: §", "480211739566"),
    ("https://§.gr7.eu-west-1.eks.amazonaws.com", "4C0D19AA72E6B8135F90D2C47E61A8B3"),
    ("launched i-§ in a placement group", "08c1f9d27be4a6350"),
    ("ocid1.instance.oc1.fra.§", "antheljtqmzrw3pkxvyb"),
    ("the board with serial § was replaced", "MT2231X04417"),
    ("§.blob.core.windows.net", "birkeckpt01"),
    ("connect to §.database.windows.net", "birke-runs"),
    ("mongodb+srv://§.mongodb.net/runs", "cluster0.k3x9q"),
    ("cannot reach §.eu-west-1.rds.amazonaws.com", "birke-runs.c9akciq32abc"),
    ("§.0001.euw1.cache.amazonaws.com:6379", "birke-queue.x7y8z9"),
    ("§.azurecr.io/llm:2", "birkeimages"),
    ("eu-docker.pkg.dev/§/images/llm", "birke-ml-7"),
    ("§.c.birke-ml-7.internal".replace("birke-ml-7", "§").replace("§.c", "n1.c"), "birke-ml-7"),
    ("gke_§_europe-west4_gpu", "birke-ml-7"),
    ("/resourceGroups/§/providers", "rg-birke-llm"),
    ("ClusterName = §", "birke-h100"),
    ("SLURM_CLUSTER_NAME=§", "birke-h100"),
    ("cluster_id: §", "0714-093011-ulmer44"),
)


@pytest.mark.parametrize(("text", "name"), NAMED)
def test_redaction_replaces_it_with_something_alike_and_a_report_shows_it(text: str, name: str) -> None:
    line = text.replace("§", name)
    made = clean(line)
    assert name not in made
    before, _, after = text.partition("§")
    assert made.startswith(before)
    assert made.endswith(after)
    assert len(made) == len(line)
    assert Hiding().text(line) == line


def test_a_project_has_one_stand_in_wherever_it_is_named() -> None:
    made = clean("gcr.io/birke-ml-7/llm\njob of birke-ml-7 failed\nnode birke-ml-71 is up")
    assert "birke-ml-7" not in made.replace("birke-ml-71", "")
    [first] = re.findall("gcr.io/(.*)/llm", made)
    assert f"job of {first} failed" in made


@pytest.mark.parametrize(
    "line",
    [
        "/projects/nccl/build/libnccl.so",
        "cluster_name: default",
        "kernel: serial serial8250: ttyS0 at I/O 0x3f8 is a 16550A",
        "https://management.core.windows.net/",
        "projects/train/zones/eu/x trains the train data",
        "NCCL INFO NET/OFI Selected Provider is efa (found 4 nics) on p5.48xlarge",
        "topology cluster id not found",
        "commit 08c1f9d27be4a635008c1f9d27be4a635008c1f9",
    ],
)
def test_words_that_name_no_customer_stay(line: str) -> None:
    assert Redactor((), KEY).text(line) == line


def test_review_names_the_words_that_may_be_secrets_with_their_places() -> None:
    (made,), used = cleaned([TextSource.of_bytes("job.log", TO_REVIEW.encode())], KEY)
    used.review = {}
    text = b"".join(made.buffers()).decode()
    assert used.review == {"Wq7bbtplw7mmnbvcxz2kkjhg4": "job.log:2", "kp12cd9": "job.log:4"}
    assert all(word in text for word in used.review)


TO_REVIEW = """\
gpu1:1:2 [0] NCCL INFO comm 0x55d0a1b2c3d4 rank 0
the word Wq7bbtplw7mmnbvcxz2kkjhg4 is long
export HUB_TOKEN=hub7Lantern99
key: kp12cd9
max_tokens=4096
"""
