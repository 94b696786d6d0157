"""The forms of troubles: a subject and what is said of it, numbers that are compared, and sentences without either."""

from __future__ import annotations

import pytest
from linear import assert_linear_time

from ncdiag.diagnose import look
from ncdiag.parsers.user_text import forms, numbers


def named(sentence: str) -> set[str]:
    return {form.name for form in forms.read(sentence)}


@pytest.mark.parametrize(
    ("sentence", "form"),
    [
        ("The GPU utilization drops to 0% between two steps", "gpus-idle"),
        ("all eight GPUs are waiting for data half of the time", "gpus-idle"),
        ("GPU的利用率经常掉到0", "gpus-idle"),
        ("The throughput is good, then everything stalls again and again", "pauses"),
        ("each epoch stops for a minute and then it continues", "pauses"),
        ("The steps become slower and slower over time", "falls-off"),
        ("Training on two RTX 3080 is slower than on one", "with-more-gpus"),
        ("Four V100 give no speedup", "with-more-gpus"),
        ("With one GPU a step takes 0.4 s and with four it takes 1.9 s", "with-more-gpus"),
        ("单机多卡比单卡还要慢", "with-more-gpus"),
        ("It takes five times as long as on our old cluster", "elsewhere"),
        ("Reading the images from disk is a bottleneck", "reading"),
        ("The start of each job takes four minutes", "start"),
        ("One of the cards vanishes under load", "gpu-lost"),
        ("I have to reboot the machine afterwards", "needs-reboot"),
        ("Only three of the eight GPUs are visible", "gpu-unseen"),
        ("In the container ibv_devinfo finds nothing", "rdma-unseen"),
        ("Registering more than 200 MB of GPU memory fails", "above-a-size"),
        ("The bandwidth collapses when many hosts send", "unsteady"),
        ("On two A4500 the loss is NaN", "wrong-with-several"),
        ("Training with 2 GPUs works, with 3 GPUs it stops", "from-a-number"),
        ("One of the GPUs is slower than the others", "one-slow-gpu"),
        ("One of our 12 nodes is always slower", "one-slow-host"),
        ("node7 is slower than the other fifteen", "one-slow-host"),
        ("All jobs are slow when one particular machine takes part", "one-slow-host"),
        ("The GPU utilization is 0-5% most of the time", "gpus-idle"),
        ("It reaches 4 GB/s, on bare metal 22 GB/s", "less-than-elsewhere"),
        ("It hangs at the end of the first epoch", "epoch-end"),
        ("It gets stuck during validation", "validating"),
        ("The job blocks while it is saving the model", "saving"),
        ("It freezes in the second backward", "second-step"),
        ("It hangs when I evaluate on rank 0", "on-one-rank"),
        ("It hangs randomly", "at-random"),
    ],
)
def test_a_form_is_read_from_its_subject_and_what_is_said_of_it(sentence: str, form: str) -> None:
    assert form in named(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The GPU utilization is at 100% on all cards",
        "Training on two RTX 3080 is twice as fast as on one",
        "With one GPU a step takes 1.9 s and with four it takes 0.5 s",
        "One node takes 12 s and two nodes take 25 s, as expected",
        "All eight GPUs are visible",
        "One of our 12 nodes is always faster",
        "The training on two nodes is slower than on one node",
        "The error message is gone after the reboot",
        "The loss is not NaN on two GPUs",
        "The tests read the data from the disk",
        "We save the model after each epoch",
        "Only two of the NICs are listed",
        "NCCL 2.21.5 was released in June and 2.22.3 in July",
    ],
)
def test_what_is_well_has_no_form(sentence: str) -> None:
    assert named(sentence) == set()


def test_more_gpus_must_gain() -> None:
    assert numbers.slower_with_more("1 GPU: 300 images/s, 4 GPUs: 290 images/s")
    assert not numbers.slower_with_more("1 GPU: 300 images/s, 4 GPUs: 1100 images/s")
    assert numbers.slower_with_more("1 GPU: 3.1 it/s; 2 GPUs: 2.0 it/s; 4 GPUs: 0.9 it/s")
    assert not numbers.slower_with_more("1 GPU: 300 images/s, 2 GPUs: 590 images/s, 4 GPUs: 1100 images/s")
    assert not numbers.slower_with_more("2 GPUs: 300 images/s, 4 GPUs: 290 images/s")
    assert not numbers.slower_with_more("1 GPU: 300 images/s, 4 GPUs: 3 s")


def test_a_form_describes_the_complaint_of_its_sentence_or_is_one() -> None:
    told = look("My job hangs at the end of each epoch.\n")[0].job.complaints
    assert [(each.what, each.form) for each in told] == [("hangs", "epoch-end")]
    told = look("My GPU utilization goes up and down all the time.\n")[0].job.complaints
    assert [(each.what, each.form) for each in told] == [("slow", "gpus-idle")]


def test_a_long_line_is_read_in_linear_time() -> None:
    assert_linear_time(lambda text: list(forms.read(text)), lambda size: "one gpu is slower than 3 s but " * size, 200)
