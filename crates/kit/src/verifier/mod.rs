//! The verifier of published fixtures: judges an implementation by its declared capabilities, tier
//! by tier, and reports in the common format of such verifiers.
//!
//! Invariants:
//! - A verification is a normal run of the kit, with the same verdicts.
//! - An error takes precedence over a failure, and a failure over a pass, in each tier and overall.
//! - Fixtures are run one at a time: an implementation may have one workspace for all of them.

mod report;
mod target;
mod text;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::time::Duration;

use thiserror::Error;

use crate::case::Case;
use crate::corpus::Protocol;
use crate::event::Reporter;
use crate::runner::{RunError, RunOptions, run};
use crate::verdict::StatusRules;

pub use report::{ConformanceReport, Finding, Gap, SurfaceCounts, TierResult, TierStatus};
pub use target::{Location, Target, TargetError};
pub use text::write_text;

/// Options of a verification.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The highest tier; it includes those below.
    pub tier: u64,
    /// The surface to judge; all if absent.
    pub surface: Option<String>,
    /// How long one fixture may take.
    pub limit: Duration,
    /// Where the fixtures are from, for the report.
    pub fixture_root: String,
}

/// Why a verification could not start. There is no report; the exit code is 2.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The implementation does not claim the surface.
    #[error(
        "{implementation} does not claim the surface {asked:?}; it claims {}",
        listing(claimed)
    )]
    SurfaceUnclaimed {
        /// The implementation.
        implementation: String,
        /// The surface that was asked for.
        asked: String,
        /// Those that it claims.
        claimed: Vec<String>,
    },
    /// No fixture is about the surface, and the implementation declares no surfaces.
    #[error("no fixture is about the surface {asked:?}; choose one of {}", listing(known))]
    SurfaceUnknown {
        /// The surface that was asked for.
        asked: String,
        /// Those that fixtures are about.
        known: Vec<String>,
    },
    /// The run went wrong.
    #[error("{0}")]
    Run(#[from] RunError),
}

/// Judges an implementation by the fixtures of a protocol.
pub fn verify(
    protocol: &Protocol,
    target: &Target,
    selection: &Selection,
    reporter: &mut dyn Reporter,
) -> Result<ConformanceReport, VerifyError> {
    if let Some(asked) = &selection.surface {
        check_surface(protocol, target, asked)?;
    }
    let surface = selection.surface.as_deref();
    let chosen = |case: &Case| {
        let tier = case.tier.is_some_and(|tier| tier <= selection.tier);
        tier && surface.is_none_or(|surface| case.surface() == Some(surface))
    };
    let chosen = protocol.only(chosen);
    let options = RunOptions {
        workers: NonZeroUsize::MIN,
        case_timeout: selection.limit,
        status_rules: StatusRules::Published,
        ..RunOptions::default()
    };
    let run = run(&chosen, target, &options, reporter)?;
    Ok(ConformanceReport::new(&run, &chosen, target, selection))
}

fn check_surface(protocol: &Protocol, target: &Target, asked: &str) -> Result<(), VerifyError> {
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    // Claims come first, as in the protocol's own verifier.
    if let Some(claimed) = target.capabilities().surfaces() {
        return if claimed.contains(&asked) {
            Ok(())
        } else {
            Err(VerifyError::SurfaceUnclaimed {
                implementation: target.capabilities().implementation.clone(),
                asked: asked.to_owned(),
                claimed: owned(claimed),
            })
        };
    }
    let known: BTreeSet<&str> = protocol.cases().iter().filter_map(Case::surface).collect();
    if known.contains(asked) {
        Ok(())
    } else {
        Err(VerifyError::SurfaceUnknown {
            asked: asked.to_owned(),
            known: owned(known.into_iter().collect()),
        })
    }
}

fn listing(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}
