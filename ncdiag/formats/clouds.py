"""Whose machine it is, by what its firmware (DMI) says of it.

Sources: Amazon EC2 user guide (identify EC2 Linux instances), cloud-init tools/ds-identify (the chassis tags of Azure
and Oracle, the vendor names of the others).
"""

from __future__ import annotations

from typing import Any

AMAZON = "Amazon EC2"
CLOUDS = {
    AMAZON: "aws", "Google": "gcp", "Alibaba Cloud": "alibaba", "Tencent Cloud": "tencent",
    "OracleCloud.com": "oci", "7783-7084-3265-9085-8269-3286-77": "azure",
}  # fmt: skip
"""The vendor of the system, else the tag of its chassis."""


def described(vendor: str | None, product: str | None, tag: str | None = None) -> dict[str, Any]:
    """The fields of a Host that the three tell; only Amazon puts the instance type where others have a product."""
    return {
        "cloud": CLOUDS.get(vendor or "") or CLOUDS.get(tag or ""),
        "machine": f"{vendor} {product}" if vendor and product else None,
        "instance_type": product if vendor == AMAZON else None,
    }


def booted(text: str) -> dict[str, Any]:
    """Those that the kernel's line at boot tells: ``Amazon EC2 p5.48xlarge/`` (drivers/firmware/dmi_scan.c).

    Vendor and product are in it without a mark between them, so that only vendors known here are told apart.
    """
    machine = text.partition("/")[0].strip()
    vendor = next((name for name in CLOUDS if machine.startswith(f"{name} ")), None)
    fields = described(vendor, machine[len(vendor) :].strip() if vendor else None)
    return {**fields, "machine": machine or None}
