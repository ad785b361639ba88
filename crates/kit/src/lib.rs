//! The conformance kit: proves that an implementation keeps a protocol's promises.
//!
//! Cases are data ([`corpus`]). A [`driver`] sends each case to an implementation, which is an
//! adapter or a server, or has it work in a [`folder`]. The [`verdict`] is the kit's own comparison
//! of the outcome with the expectation. The [`runner`] does that for many cases in parallel and
//! emits [`event`]s, which every [`reporter`] reads. [`levels`] decides which level of a protocol
//! is reached, the [`baseline`] lists known failures, and [`exit`] defines the exit codes. The
//! [`verifier`] runs published fixtures against an implementation that declares its capabilities.
//!
//! Invariant: the kit judges from outside. It knows no implementation, not even Accord's, and no
//! protocol by name. It computes none of the digests that it expects literally. It separates its
//! own errors from those of the implementation.
//!
//! ```
//! use accord_kit::{Corpus, Filter};
//!
//! let alx = Corpus::embedded_protocol("alx")?;
//! let filter: Filter = "area(identity) & !clause(ALX-ID-CID)".parse()?;
//! let cases = alx.cases().iter().filter(|case| filter.matches(case)).count();
//! assert!(cases > 0 && cases < alx.cases().len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    reason = "the kit reads corpora, runs adapters, asks servers and measures time"
)]

pub mod baseline;
pub mod breaking;
pub mod browser;
pub mod case;
pub mod contract;
pub mod corpus;
pub mod driver;
pub mod event;
pub mod exchange;
pub mod exit;
mod failure;
pub mod filter;
pub mod folder;
pub mod levels;
mod lines;
pub mod report;
pub mod reporter;
pub mod runner;
pub mod schema;
mod truncate;
pub mod verdict;
pub mod verifier;

pub use accord_process::{Invocation, StartError, end_all as end_all_adapters};

pub use baseline::Baseline;
pub use case::Case;
pub use corpus::{Corpus, Protocol};
pub use event::{Event, Reporter, Reporters, What};
pub use exit::{Overall, RunVerdict};
pub use filter::Filter;
pub use report::RunReport;
pub use runner::{RunOptions, run};

/// Ends every adapter and removes its folder, for a program that must end at once.
pub fn abandon() {
    // First the processes, because they may still write to their folders.
    end_all_adapters();
    driver::remove_live_folders();
}
