"""Which network addresses are public."""

import ipaddress
from typing import Final, TypeAlias

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

# Addresses of IPv6 that carry one of IPv4 in their last 32 bits.
_CARRIERS: Final = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96"))


def _carried(address: _Address) -> _Address | None:
    """The IPv4 address inside an IPv6 one (mapped, translated, tunnelled), None when there is none."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if any(address in network for network in _CARRIERS):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)


def is_public(text: str) -> bool:
    """Whether an IP address is reachable for everyone; False for all special ranges and for what is no address."""
    try:
        address: _Address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    inner = _carried(address)
    if inner is not None and not is_public(str(inner)):
        return False
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified or address.is_loopback
    )
