//! The parts of a project's packages that a briefing shows together.

use crate::package::{PackageType, Significance, Status};

/// From this significance on, a complete package is a standing rule or decision.
pub const STANDING_SIGNIFICANCE: u8 = 8;
/// Below this significance, an automatic deposit is only counted.
pub const LOW_SIGNIFICANCE: u8 = 5;

/// A part of a project's packages. No package is in two, and drafts are in none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BriefingPart {
    /// Complete packages of high significance.
    Standing,
    /// Packages that wait for a review.
    Waiting,
    /// Complete automatic deposits of low significance.
    Automatic,
    Work,
}

impl BriefingPart {
    pub const ALL: &'static [Self] = &[Self::Standing, Self::Waiting, Self::Automatic, Self::Work];

    /// The part that a package belongs to; `None` for a draft.
    pub fn of(status: Status, kind: &PackageType, significance: Significance) -> Option<Self> {
        let significance = significance.number();
        let is_minor = significance < LOW_SIGNIFICANCE && kind.as_str() == "auto_deposit";
        Some(match status {
            Status::Draft => return None,
            Status::AwaitingReview => Self::Waiting,
            Status::Complete if significance >= STANDING_SIGNIFICANCE => Self::Standing,
            Status::Complete if is_minor => Self::Automatic,
            Status::Complete | Status::RevisionRequested => Self::Work,
        })
    }
}
