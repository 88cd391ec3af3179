//! Which addresses a fetch may reach, and the resolver that gives no other (S-01).
//!
//! A host name is resolved here and the connection goes to what was checked here; there is no second look-up between
//! the check and the connection that another answer could slip into.

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::{
    error::Error,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

/// Whether the address belongs to the public internet.
///
/// IPv4: all but the special-purpose blocks of RFC 6890. IPv6: only global unicast, without its special blocks; where
/// an IPv4 address is embedded (mapped, NAT64, 6to4), that one decides.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127, _, _)           // this network, private, loopback
            | (100, 64..=127, _)       // shared by carriers (CGNAT)
            | (169, 254, _)            // link-local, cloud metadata
            | (172, 16..=31, _)        // private
            | (192, 0, 0 | 2)          // protocol assignments, documentation
            | (192, 88, 99)            // 6to4 relays
            | (192, 168, _)            // private
            | (198, 18..=19, _)        // benchmarks
            | (198, 51, 100)           // documentation
            | (203, 0, 113)            // documentation
            | (224..=255, _, _) // multicast, reserved, broadcast
    )
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let embedded = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match segments {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_public_v4(embedded(high, low)),
        [0x2002, high, low, ..] => is_public_v4(embedded(high, low)),
        // Protocol assignments (Teredo among them) and documentation.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => (0x2000..=0x3fff).contains(&first),
    }
}

/// Resolves names to public addresses only.
pub(super) struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str().to_string();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let public: Vec<SocketAddr> = found.iter().copied().filter(|a| is_public(a.ip())).collect();
            match (public.is_empty(), found.first()) {
                (true, Some(private)) => Err(PrivateAddress { host, address: private.ip() }.into()),
                _ => Ok(Box::new(public.into_iter()) as Addrs),
            }
        })
    }
}

/// A host that leads to an address which is not public.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PrivateAddress {
    pub(super) host: String,
    pub(super) address: IpAddr,
}

impl fmt::Display for PrivateAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} leads to {}, which is not a public address", self.host, self.address)
    }
}

impl Error for PrivateAddress {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_pass() {
        let private = [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
            "3fff::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ];
        let public = [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.0.1",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2002:808:808::1",
        ];
        for address in private {
            assert!(!is_public(address.parse().unwrap()), "{address} is not public");
        }
        for address in public {
            assert!(is_public(address.parse().unwrap()), "{address} is public");
        }
    }
}
