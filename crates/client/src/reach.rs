//! Which addresses a client connects to.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Which addresses a client connects to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Reach {
    /// All of them.
    #[default]
    Any,
    /// Only addresses of the public Internet. A name that has any other address is refused.
    Public,
}

impl Reach {
    /// The addresses of a name, if the client connects to them. It connects to these, and does not
    /// look the name up again.
    pub(crate) fn check(self, found: Vec<SocketAddr>) -> io::Result<Vec<SocketAddr>> {
        if self == Self::Public && !found.iter().all(|address| is_public(address.ip())) {
            let message = "it has an address that is not public";
            return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, message));
        }
        Ok(found)
    }
}

/// Whether an address is one of the public Internet: not private, loopback, link-local, shared,
/// reserved, multicast, unspecified or for documentation, and not that of the services of a cloud.
/// An IPv6 address that stands for an IPv4 address is not public.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Networks that are not public: the first address, and the bits that count.
const PRIVATE_V4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast, reserved and broadcast.
    (Ipv4Addr::new(224, 0, 0, 0), 3),
    // The services of a cloud, at an address that is public elsewhere.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
];

/// Parts of 2000::/3 that are not public: Teredo and other assignments of protocols,
/// documentation, 6to4.
const PRIVATE_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    let differs = |(network, bits): &(Ipv4Addr, u32)| {
        (u32::from(address) ^ u32::from(*network)) >> (32 - bits) != 0
    };
    PRIVATE_V4.iter().all(differs)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let differs = |(network, bits): &(Ipv6Addr, u32)| {
        (u128::from(address) ^ u128::from(*network)) >> (128 - bits) != 0
    };
    // Everything else is not assigned, or local, or stands for an IPv4 address.
    address.segments()[0] >> 13 == 1 && PRIVATE_V6.iter().all(differs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(text: &str) -> bool {
        is_public(text.parse().expect("an address"))
    }

    #[test]
    fn only_public_addresses_are_public() {
        for text in ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111"] {
            assert!(public(text), "{text}");
        }
        for text in [
            "0.0.0.0",
            "10.1.2.3",
            "100.100.100.200",
            "127.0.0.1",
            "127.9.9.9",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.168.1.1",
            "198.19.0.1",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::7f00:1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!public(text), "{text}");
        }
    }

    #[test]
    fn a_name_with_one_private_address_is_refused() {
        let of = |texts: [&str; 2]| texts.map(|text| text.parse().expect("an address")).to_vec();
        let mixed = of(["8.8.8.8:80", "10.0.0.1:80"]);
        assert!(Reach::Public.check(mixed.clone()).is_err());
        assert_eq!(Reach::Any.check(mixed.clone()).expect("all"), mixed);
        let good = of(["8.8.8.8:80", "1.1.1.1:80"]);
        assert_eq!(Reach::Public.check(good.clone()).expect("public"), good);
    }
}
