//! The parts of a project's packages that a briefing shows together.

use accord_contract::Wire as _;

use crate::package::{KnownPackageType, PackageFields, PackageType, Significance, Status};
use crate::{ActorType, PackageId, text};

/// From this significance on, a complete package is a standing rule or decision.
pub const STANDING_SIGNIFICANCE: u8 = 8;
/// Below this significance, an automatic deposit is only counted.
pub const LOW_SIGNIFICANCE: u8 = 5;

/// The fewest words of a handoff note. "Still working" hands nothing over.
const HANDOFF_WORDS: usize = 4;
/// Or its fewest characters, for languages that do not write words apart.
const HANDOFF_CHARS: usize = 24;

/// A part of a project's packages. No package is in two, and drafts are in none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BriefingPart {
    /// Complete packages that are more than a note, by what they are: those of the highest rank
    /// first.
    Standing,
    /// Packages of which a reviewer wants changes.
    Asked,
    /// Packages that wait for a review.
    Waiting,
    /// Complete automatic deposits of low significance.
    Automatic,
    /// The other complete packages.
    Work,
}

/// What a briefing knows of a package before it is read. It is stored beside the package, so a
/// change of its rules needs a migration.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Outline {
    /// What it is, in a number: 0 for an ordinary note; otherwise its significance, and more for a
    /// decision, a milestone, a question, and for the word of a person.
    pub rank: u8,
    /// Whether it hands work over.
    pub hands_over: bool,
    /// The package that it extends or corrects.
    pub parent: Option<PackageId>,
}

impl Outline {
    pub fn of(fields: &PackageFields) -> Self {
        let is_handoff = fields.package_type.meaning() == KnownPackageType::Handoff;
        let note = fields.handoff_note();
        let is_note = note.split_whitespace().count() >= HANDOFF_WORDS
            || note.chars().count() >= HANDOFF_CHARS;
        Self {
            rank: rank(fields),
            hands_over: is_handoff || (is_note && !is_minor(fields)),
            parent: fields.parent(),
        }
    }

    /// The outline of a stored package; `None` if its text is damaged.
    pub fn read(stored: &str) -> Option<Self> {
        let document = text::document(stored.as_bytes()).ok()?;
        PackageFields::from_document(document).ok().map(|fields| Self::of(&fields))
    }
}

/// Whether it is an automatic deposit that is only counted.
fn is_minor(fields: &PackageFields) -> bool {
    fields.package_type.meaning() == KnownPackageType::AutoDeposit
        && fields.significance().number() < LOW_SIGNIFICANCE
}

fn rank(fields: &PackageFields) -> u8 {
    use KnownPackageType::{Decision, Milestone, Question};
    if is_minor(fields) {
        return 0;
    }
    let significance = fields.significance().number();
    let kind = match fields.package_type.meaning() {
        Decision => 3,
        Question | Milestone => 2,
        _ => 0,
    };
    let decides = !fields.decisions_made().iter().all(|text| text.trim().is_empty());
    let decides = if decides { 2 } else { 0 };
    let person = if fields.created_by.kind == ActorType::Human { 3 } else { 0 };
    match kind + decides + person {
        0 if significance < STANDING_SIGNIFICANCE => 0,
        more => significance + more,
    }
}

impl BriefingPart {
    pub const ALL: &'static [Self] =
        &[Self::Standing, Self::Asked, Self::Waiting, Self::Automatic, Self::Work];

    /// The part that a package belongs to; `None` for a draft.
    pub fn of(
        status: Status,
        kind: &PackageType,
        significance: Significance,
        outline: &Outline,
    ) -> Option<Self> {
        let is_minor = significance.number() < LOW_SIGNIFICANCE && kind.as_str() == "auto_deposit";
        Some(match status {
            Status::Draft => return None,
            Status::AwaitingReview => Self::Waiting,
            Status::RevisionRequested => Self::Asked,
            Status::Complete if outline.rank > 0 => Self::Standing,
            Status::Complete if is_minor => Self::Automatic,
            Status::Complete => Self::Work,
        })
    }
}
