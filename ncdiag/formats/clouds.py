"""The cloud of a machine, by the texts of its firmware (DMI).

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
"""Clouds by the vendor of the system, else by the tag of its chassis."""


def described(vendor: str | None, product: str | None, tag: str | None = None) -> dict[str, Any]:
    """The fields of a Host from the three texts; only Amazon uses the product name for the instance type."""
    return {
        "cloud": CLOUDS.get(vendor or "") or CLOUDS.get(tag or ""),
        "machine": f"{vendor} {product}" if vendor and product else None,
        "instance_type": product if vendor == AMAZON else None,
    }


def booted(text: str) -> dict[str, Any]:
    """The fields from the kernel's line at boot: ``Amazon EC2 p5.48xlarge/`` (drivers/firmware/dmi_scan.c).

    Vendor and product are not separated in it, so only known vendors are recognised.
    """
    machine = text.partition("/")[0].strip()
    vendor = next((name for name in CLOUDS if machine.startswith(f"{name} ")), None)
    fields = described(vendor, machine[len(vendor) :].strip() if vendor else None)
    return {**fields, "machine": machine or None}
