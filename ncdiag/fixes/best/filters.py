"""The line that opens a packet filter for the hosts of the job, for the tool that manages it."""

from __future__ import annotations

import ipaddress

from ncdiag.facts.model import Host
from ncdiag.facts.view import View
from ncdiag.fixes.best.sockets import chosen_interfaces
from ncdiag.fixes.values import Bindings, Value, best
from ncdiag.nccl.on_host import seen

_LINES = {
    "firewalld": "sudo firewall-cmd --permanent --zone=trusted --change-source={net}; sudo firewall-cmd --reload",
    "ufw": "sudo ufw prepend allow proto tcp from {net}",
    "iptables": "sudo iptables -I INPUT -s {net} -p tcp{ports} -j ACCEPT",
    "nft": "sudo nft insert rule {chain} ip saddr {net} {ports} accept",
}
"""By tool, in the order in which one of two that are shown is the manager of the other's rules."""
_IPV4 = 4
_RANGE = "net.ipv4.ip_local_port_range"
_ASK = ("ip -br addr (on every host)",)


@best
def let_in(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """A command that admits TCP from the network of the hosts, on the ports of the kernel if they are known."""
    hosts = [host for host in view.job.hosts if host.input_policy == "drop" or host.input_drops]
    tools = {tool for host in hosts for tool in host.input_filters or ()}
    tool = next((name for name in _LINES if name in tools), None)
    if tool is None:
        return Value(reason="no packet filter was shown whose rules are known")
    net = _shared_network(hosts, view)
    if net is None:
        return Value(reason="the network of the hosts is not known", ask_for=_ASK)
    for host in hosts:
        view.note(host, "input_filters")
    chains = {host.input_chain for host in hosts if host.input_chain}
    chain = chains.pop() if len(chains) == 1 else None
    if tool == "nft" and chain is None:
        return Value(reason="the chain for incoming packets was not seen", ask_for=("sudo nft list ruleset",))
    text = _LINES[tool].format(net=net, chain=chain, ports=_ports(tool, view))
    return Value(text=text, reason=f"all addresses seen of the hosts are in {net}")


def _ports(tool: str, view: View) -> str:
    """The condition of a rule on ports: those from which the kernel chooses, if all hosts show the same; else all."""
    shown = {" ".join(text.split()) for host in view.job.hosts if (text := (host.sysctls or {}).get(_RANGE))}
    low, _, high = shown.pop().partition(" ") if len(shown) == 1 else ("", "", "")
    is_known = low.isdecimal() and high.isdecimal() and int(low) < int(high)
    if tool == "nft":
        return f"tcp dport {low}-{high}" if is_known else "meta l4proto tcp"
    return f" --dport {low}:{high}" if is_known else ""


def _shared_network(hosts: list[Host], view: View) -> str | None:
    """The smallest IPv4 network of an interface, or of a rule, that has all known addresses of the hosts."""
    chosen = chosen_interfaces(view)
    addresses = [ipaddress.ip_address(ip) for _, ip in chosen.values()]
    if not addresses:
        return None
    known = {
        ipaddress.ip_network(f"{address.ip}/{address.prefix_len}", strict=False)
        for name in seen.hosts(view) for interface in seen.interfaces(name, view).interfaces
        for address in interface.addresses or () if address.prefix_len
    }  # fmt: skip
    known |= {ipaddress.ip_network(text) for host in hosts for text in host.input_networks or ()}
    fitting = [
        net for net in known
        if net.version == _IPV4 and net.num_addresses > 1 and all(each in net for each in addresses)
    ]  # fmt: skip
    return str(max(fitting, key=lambda net: net.prefixlen)) if fitting else None
