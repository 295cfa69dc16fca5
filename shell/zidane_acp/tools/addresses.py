"""Which network addresses are public."""

import ipaddress
from typing import Final, TypeAlias

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_TRANSLATED: Final = ipaddress.IPv6Network("64:ff9b::/96")


def _target(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that a mapped or translated IPv6 address stands for."""
    if address in _TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped


def _tunnel(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that a tunnelled one passes through."""
    return address.sixtofour or (address.teredo[1] if address.teredo else None)


def _is_plain(address: _Address) -> bool:
    """Whether an address is in no special range."""
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified or address.is_loopback
    )


def is_public(text: str) -> bool:
    """Whether an IP address is reachable for everyone; False for all special ranges and for what is no address."""
    try:
        address: _Address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return _is_plain(address)
    target, tunnel = _target(address), _tunnel(address)
    if target is not None:
        return _is_plain(target)
    return _is_plain(address) and not address.is_site_local and (tunnel is None or _is_plain(tunnel))
