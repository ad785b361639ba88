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
    pub fn of(
        status: Status,
        package_type: &PackageType,
        significance: Significance,
    ) -> Option<Self> {
        let significance = significance.number();
        Some(match status {
            Status::Draft => return None,
            Status::AwaitingReview => Self::Waiting,
            Status::Complete if significance >= STANDING_SIGNIFICANCE => Self::Standing,
            Status::Complete
                if significance < LOW_SIGNIFICANCE && package_type.as_str() == "auto_deposit" =>
            {
                Self::Automatic
            }
            Status::Complete | Status::RevisionRequested => Self::Work,
        })
    }
}
