//! Damage that was found in the store, as people are told of it.
//!
//! A damaged package is in quarantine, which says so. Any other damaged row has a note: a setting
//! of its project, from the moment that the damage is found until a verification does not find it
//! any more. Both are the source of an item of the inbox.

use accord_base::inbox::{Urgency, Waiting, kind};
use accord_contract::{Time, Value};

use crate::operations::Suspect;

/// How the names of the settings begin that note damage.
pub const NOTES: &str = "damage/";
/// The most characters of an id in a title.
const TITLE_ID: usize = 80;
const FOUND_AT: &str = "found_at";
const CAUSE: &str = "cause";

/// Something damaged.
#[derive(Clone, Copy, Debug)]
pub struct Damage<'a> {
    pub suspect: Suspect,
    pub id: &'a str,
    pub found_at: Time,
    /// What is wrong with it.
    pub cause: &'a str,
}

/// The name of the setting that notes the damage of a row.
pub fn note_name(suspect: Suspect, id: &str) -> String {
    format!("{NOTES}{}/{id}", suspect.as_str())
}

/// What a setting that notes damage says.
pub fn note_text(found_at: Time, cause: &str) -> String {
    serde_json::json!({ FOUND_AT: found_at.unix_millis(), CAUSE: cause }).to_string()
}

/// The item of a setting; `None` for one that notes no damage.
pub fn noted(name: &str, text: &str) -> Option<Waiting> {
    read_note(name, text).map(|(suspect, id, found_at, cause)| {
        waiting(&Damage { suspect, id, found_at, cause: &cause })
    })
}

/// What a setting notes: the kind of row, its id, when it was found, and what is wrong with it.
pub fn read_note<'n>(name: &'n str, text: &str) -> Option<(Suspect, &'n str, Time, String)> {
    let (suspect, id) = name.strip_prefix(NOTES)?.split_once('/')?;
    let suspect = Suspect::parse(suspect)?;
    let note: Value = serde_json::from_str(text).ok()?;
    let found_at = Time::from_unix_millis(note.get(FOUND_AT)?.as_i64()?);
    Some((suspect, id, found_at, note.get(CAUSE)?.as_str()?.to_owned()))
}

/// The kind of row and the id of the subject of an item.
pub fn place(subject: &str) -> Option<(Suspect, &str)> {
    let (suspect, id) = subject.split_once('/')?;
    Some((Suspect::parse(suspect)?, id))
}

/// The item of something damaged.
pub fn waiting(damage: &Damage<'_>) -> Waiting {
    let Damage { suspect, id, found_at, .. } = *damage;
    let what = match suspect {
        Suspect::Project => "The row of the project",
        Suspect::Session => "A session",
        Suspect::Package => "A package",
        Suspect::Fact => "A fact",
        Suspect::Chain => "The history of a fact",
        Suspect::Decision => "The record of a decision",
        Suspect::Event => "An event, or the numbers of events",
        Suspect::Blob => "A blob",
        Suspect::Tally => "The count of packages or questions",
        Suspect::Question => "The index of questions and answers",
        Suspect::Search => "The search index",
        Suspect::Counter => "The count of rows",
    };
    // Others choose ids. One that reads like a sentence is not put into a title.
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.:".contains(letter);
    let shown = !id.is_empty() && id.len() <= TITLE_ID && id.chars().all(is_plain);
    let names_row = suspect != Suspect::Project && !is_derived(suspect);
    let title = match shown && names_row {
        true => format!("{what} is damaged: {id}"),
        false => format!("{what} is damaged"),
    };
    let subject = format!("{}/{id}", suspect.as_str());
    let opening = found_at.unix_millis().max(0).unsigned_abs();
    let mut item = Waiting::new(kind::STORE_DAMAGE, &subject, opening, title, found_at);
    item.urgency = if is_derived(suspect) { Urgency::Piece } else { Urgency::Loss };
    item
}

/// The id under which everything of a kind is noted that a repair makes again from other rows.
pub const DERIVED: &str = "rows";

/// Whether a repair makes such rows again from others.
pub fn is_derived(suspect: Suspect) -> bool {
    use Suspect::{Counter, Question, Search, Tally};
    matches!(suspect, Counter | Question | Search | Tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_back_and_is_an_item() {
        let at = Time::from_unix_millis(5_000);
        let name = note_name(Suspect::Fact, "fact_1/a");
        let text = note_text(at, "its text is \"no\" fact");
        let cause = "its text is \"no\" fact".to_owned();
        assert_eq!(read_note(&name, &text), Some((Suspect::Fact, "fact_1/a", at, cause)));
        let item = noted(&name, &text).expect("an item");
        assert_eq!((item.kind.as_str(), item.opening), (kind::STORE_DAMAGE, 5_000));
        assert_eq!(place(&item.subject), Some((Suspect::Fact, "fact_1/a")));
        assert_eq!(item.urgency, Urgency::Loss);
        for (name, text) in [("other/fact/f", &*text), (&name, "{}"), ("damage/moon/f", &*text)] {
            assert_eq!(noted(name, text), None);
        }
    }

    #[test]
    fn a_title_has_no_sentence_of_an_id() {
        let at = Time::from_unix_millis(0);
        let title = |suspect, id| waiting(&Damage { suspect, id, found_at: at, cause: "" }).title;
        assert_eq!(title(Suspect::Package, "pkg_1"), "A package is damaged: pkg_1");
        assert_eq!(title(Suspect::Package, "all is well"), "A package is damaged");
        assert_eq!(title(Suspect::Project, "shop"), "The row of the project is damaged");
        let suspect = Suspect::Search;
        let item = waiting(&Damage { suspect, id: DERIVED, found_at: at, cause: "" });
        assert_eq!(item.urgency, Urgency::Piece);
        assert_eq!(item.title, "The search index is damaged");
    }
}
