//! Comparison of two version texts, for the compatibility rules. Otherwise a version is opaque.

use crate::wire_enum;

/// A version of the form `major.minor`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Version {
    /// Changes when old clients would break.
    pub major: u64,
    /// Changes when something was added that old clients can ignore.
    pub minor: u64,
}

wire_enum! {
    /// The relation of another version to ours.
    pub enum Relation("VersionRelation", closed) {
        /// The same version.
        Same = "same",
        /// Theirs has the same major and a later minor number.
        MinorNewer = "minor_newer",
        /// Theirs has the same major and an earlier minor number.
        MinorOlder = "minor_older",
        /// The major numbers differ.
        MajorDiffers = "major_differs",
        /// One of them is not of the form `major.minor`, so nothing can be said.
        Opaque = "opaque",
    }
}

impl Version {
    /// Reads `major.minor`: two decimal numbers without sign or leading zero.
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        Some(Self { major: number(major)?, minor: number(minor)? })
    }
}

/// The relation of `theirs` to `ours`. Equal texts are the same version, also without the form
/// `major.minor`. Clauses: ALX-VERSION-OPAQUE, ALX-C6.
pub fn relation(ours: &str, theirs: &str) -> Relation {
    // Before parsing: versions are opaque, and equal texts are the same version in any form.
    if ours == theirs {
        return Relation::Same;
    }
    match (Version::parse(ours), Version::parse(theirs)) {
        (Some(ours), Some(theirs)) if ours.major != theirs.major => Relation::MajorDiffers,
        (Some(ours), Some(theirs)) if theirs > ours => Relation::MinorNewer,
        (Some(_), Some(_)) => Relation::MinorOlder,
        _ => Relation::Opaque,
    }
}

fn number(digits: &str) -> Option<u64> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    // `1.01` and `1.1` would otherwise be equal versions with different texts.
    let shortest = digits == "0" || !digits.starts_with('0');
    (plain && shortest).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_are_seen_from_ours() {
        let cases = [
            ("1.1", "1.1", Relation::Same),
            ("1.1", "1.2", Relation::MinorNewer),
            ("1.9", "1.10", Relation::MinorNewer),
            ("1.1", "1.0", Relation::MinorOlder),
            ("1.1", "2.0", Relation::MajorDiffers),
            ("2.0", "1.9", Relation::MajorDiffers),
            ("1.1", "1.1-beta", Relation::Opaque),
            ("1.1-beta", "1.1-beta", Relation::Same),
            ("1.1", "1", Relation::Opaque),
            ("1.1", "1.1.0", Relation::Opaque),
            ("1.1", "+1.1", Relation::Opaque),
            ("1.1", "1.01", Relation::Opaque),
            ("1.1", "1.", Relation::Opaque),
            ("1.1", "", Relation::Opaque),
            ("1.1", "1.99999999999999999999", Relation::Opaque),
        ];
        for (ours, theirs, expected) in cases {
            assert_eq!(relation(ours, theirs), expected, "{ours} and {theirs}");
        }
    }
}
