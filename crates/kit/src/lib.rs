//! The conformance kit: proves that an implementation keeps a protocol's promises.
//!
//! Cases are data ([`corpus`]); a [`driver`] carries each to an implementation, which is an adapter
//! or a server; the [`verdict`] is the kit's own comparison of what was done with what must be
//! done; the [`runner`] does that for many cases in parallel and tells it as [`event`]s, which
//! every [`reporter`] reads. [`levels`] says which level of a protocol is reached, the [`baseline`]
//! holds failures that are known, and [`exit`] says what a run's exit code means. The [`verifier`]
//! makes such a run of published fixtures, against an implementation that says what it claims.
//!
//! Invariant: the kit judges from outside. It knows no implementation, Accord's included, and no
//! protocol by name; it computes none of the digests that it expects literally; and it keeps its
//! own trouble apart from the implementation's.
//!
//! ```
//! use accord_kit::{Corpus, Filter};
//!
//! let corpus = Corpus::embedded()?;
//! let alx = corpus.protocol("alx")?;
//! let filter: Filter = "area(identity) & !clause(ALX-ID-CID)".parse()?;
//! let cases = alx.cases().iter().filter(|case| filter.matches(case)).count();
//! assert!(cases > 0 && cases < alx.cases().len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![expect(
    clippy::disallowed_methods,
    reason = "the kit reads corpora, runs adapters, asks servers and measures time"
)]

pub mod baseline;
pub mod case;
pub mod contract;
pub mod corpus;
pub mod driver;
pub mod event;
pub mod exchange;
pub mod exit;
mod failure;
pub mod filter;
pub mod levels;
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
pub use exit::Overall;
pub use filter::Filter;
pub use report::RunReport;
pub use runner::{RunOptions, run};

/// Ends every adapter that is running and removes the folders that they work in, for a program that
/// was told to end at once. Neither can be started or made again in this process.
pub fn abandon() {
    end_all_adapters();
    driver::remove_live_folders();
}
