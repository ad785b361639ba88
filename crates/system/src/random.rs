use data_encoding::HEXLOWER;

/// `N` random bytes, good enough for keys and tokens. Panics without a random source: nothing that
/// needs an unguessable value can go on.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system has a random source");
    bytes
}

/// `N` random bytes as `2 * N` lowercase hexadecimal digits.
pub fn random_hex<const N: usize>() -> String {
    HEXLOWER.encode(&random::<N>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_hex_has_two_digits_per_byte_and_differs() {
        let (one, other) = (random_hex::<8>(), random_hex::<8>());
        assert_eq!(one.len(), 16);
        assert!(one.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_ne!(one, other);
    }
}
