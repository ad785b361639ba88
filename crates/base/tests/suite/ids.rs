//! Ids.

use accord_base::{ActorId, IdError, MAX_ID_CHARS, ProjectId, SessionId, id};

id! {
    /// An id as a protocol declares it.
    PackageId, "pkg_"
}

#[test]
fn any_text_of_reasonable_length_is_an_id() {
    let longest = "😀".repeat(MAX_ID_CHARS);
    for text in ["a", "日本/1", "50% off", "../..", " ", "\u{7f}\n", &longest] {
        assert_eq!(PackageId::new(text).unwrap().as_str(), text);
    }
    assert_eq!(PackageId::new(""), Err(IdError::Empty));
    assert_eq!(PackageId::new(format!("{longest}x")), Err(IdError::TooLong));
    assert_eq!(PackageId::new("a\0b"), Err(IdError::Nul));
    assert!(PackageId::new("x".repeat(200)).is_ok());
}

#[test]
fn minted_ids_have_the_recommended_form() {
    let random = *b"\x00\x01\xfe\xff0123456789ab";
    let digits = "0001feff303132333435363738396162";
    assert_eq!(PackageId::mint(random).as_str(), format!("pkg_{digits}"));
    assert_eq!(ActorId::mint(random).as_str(), format!("actor_{digits}"));
    assert_eq!(SessionId::mint(random).as_str(), format!("sess_{digits}"));
    assert_eq!(ProjectId::mint(random).as_str(), format!("proj_{digits}"));
    assert_eq!(digits.len(), 32);
}
