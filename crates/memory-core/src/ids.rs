//! The ids of the Agentic Protocol.

use std::collections::BTreeMap;

use accord_base::id;

id! {
    /// Names a package within its project.
    PackageId, "pkg_"
}
id! {
    /// Names a fact within its project.
    FactId, "fact_"
}

/// The prefix of generated ids of packages.
const GENERATED: &str = "pkg_";
/// The digits of a generated id.
const DIGITS: usize = 32;
/// The fewest digits of a short id.
pub const SHORT_DIGITS: usize = 8;

/// The short ids of packages: the first digits of generated ids, as many as make them unique.
#[derive(Clone, Debug, Default)]
pub struct ShortIds {
    /// The digits of those for which [`SHORT_DIGITS`] are too few.
    longer: BTreeMap<PackageId, usize>,
}

impl PackageId {
    /// The 32 random digits of a generated id.
    fn digits(&self) -> Option<&str> {
        let digits = self.as_str().strip_prefix(GENERATED)?;
        (digits.len() == DIGITS && is_hex(digits)).then_some(digits)
    }

    /// The beginning of generated ids that this text stands for, if it is a short id: at least
    /// [`SHORT_DIGITS`] digits, with or without the prefix.
    pub fn beginning(&self) -> Option<String> {
        let text = self.as_str();
        let digits = text.strip_prefix(GENERATED).unwrap_or(text);
        let is_short = (SHORT_DIGITS..DIGITS).contains(&digits.len()) && is_hex(digits)
            || digits.len() == DIGITS && digits.len() == text.len() && is_hex(digits);
        is_short.then(|| format!("{GENERATED}{digits}"))
    }

    /// Whether it has the form of generated ids.
    pub fn is_generated(&self) -> bool {
        self.digits().is_some()
    }
}

impl ShortIds {
    /// The short id of a package. An id that was not generated is shown whole.
    pub fn of<'i>(&self, id: &'i PackageId) -> &'i str {
        let Some(digits) = id.digits() else { return id.as_str() };
        &digits[..self.longer.get(id).copied().unwrap_or(SHORT_DIGITS).min(DIGITS)]
    }

    /// Lengthens the short id of a package as far as other ids of the project begin like it.
    pub fn lengthen<'i>(&mut self, id: &PackageId, others: impl Iterator<Item = &'i PackageId>) {
        let Some(digits) = id.digits() else { return };
        let alike = |other: &str| {
            let pairs = digits.bytes().zip(other.bytes());
            pairs.take_while(|(one, other)| one == other).count()
        };
        let others = others.filter(|other| *other != id);
        let alike = others.filter_map(|other| other.as_str().strip_prefix(GENERATED)).map(alike);
        let needed = alike.max().map_or(0, |alike| alike + 1);
        if needed > SHORT_DIGITS {
            self.longer.insert(id.clone(), needed);
        }
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::{PackageId, ShortIds};

    fn id(text: &str) -> PackageId {
        PackageId::new(text).unwrap()
    }

    #[test]
    fn a_short_id_is_as_long_as_it_must_be() {
        let one = id("pkg_85b27dea00000000000000000000000a");
        let two = id("pkg_85b27dea01000000000000000000000b");
        let mut short = ShortIds::default();
        assert_eq!(short.of(&one), "85b27dea");
        short.lengthen(&one, [&one, &two].into_iter());
        assert_eq!(short.of(&one), "85b27dea00");
        assert_eq!(short.of(&id("plan-of-may")), "plan-of-may");
    }

    #[test]
    fn a_short_id_is_the_beginning_of_generated_ones() {
        let begins = |text: &str| id(text).beginning();
        assert_eq!(begins("85b27dea").as_deref(), Some("pkg_85b27dea"));
        assert_eq!(begins("pkg_85b27dea0").as_deref(), Some("pkg_85b27dea0"));
        assert_eq!(begins("pkg_85b27de"), None);
        assert_eq!(begins("deadline"), None);
        assert_eq!(begins(&format!("pkg_{}", "a".repeat(32))), None);
    }
}
