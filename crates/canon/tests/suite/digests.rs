//! Digests and content ids against published values.

use accord_canon::{Digest, Hash, hash_tagged, hmac_sha256, keccak256, raw_sha256_cid, sha256};

#[test]
fn the_empty_input_has_its_well_known_digests() {
    assert_eq!(
        keccak256(b"").prefixed(),
        "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    );
    assert_eq!(
        sha256(b"").hex(),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
}

#[test]
fn a_tag_is_part_of_what_is_hashed() {
    for hash in [Hash::Sha256, Hash::Keccak256] {
        let tagged = hash_tagged(hash, "KB_V1", b"{}");
        assert_eq!(tagged, hash.of(&[b"KB_V1{}"]));
        assert_ne!(tagged, hash.of(&[b"{}"]));
        assert_ne!(tagged, hash_tagged(hash, "KB_V2", b"{}"));
    }
}

/// RFC 4231, test cases 1, 2 and 6.
#[test]
fn hmac_has_the_digests_of_the_rfc() {
    for (secret, message, expected) in [
        (
            [0x0b; 20].as_slice(),
            "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        ),
        (
            b"Jefe",
            "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        (
            &[0xaa; 131],
            "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        ),
    ] {
        assert_eq!(hmac_sha256(secret, message.as_bytes()).hex(), expected);
    }
}

#[test]
fn a_cid_of_raw_bytes_begins_as_such_cids_do() {
    // Known from the multiformats examples: the raw block of no bytes.
    assert_eq!(
        raw_sha256_cid(&sha256(b"")),
        "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"
    );
}

#[test]
fn digests_are_read_as_they_are_written() {
    let digest = keccak256(b"x");
    assert_eq!(digest.hex().parse(), Ok(digest));
    assert_eq!(digest.prefixed().parse(), Ok(digest));
    let hex = digest.hex();
    for wrong in ["", "0x", &hex[1..], &hex.to_uppercase(), &format!("{hex}00")] {
        assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
    }
}
