//! The values of a run that no other run has.

use std::sync::atomic::{AtomicU64, Ordering};

use accord_canon::sha256;
use accord_contract::Value;

use crate::case::{Generator, GeneratorKind};

#[derive(Debug)]
pub(crate) struct Values {
    /// A text that no other run has.
    run: String,
    count: AtomicU64,
}

impl Values {
    pub(crate) fn new() -> Self {
        Self { run: accord_system::random_hex::<4>(), count: AtomicU64::new(0) }
    }

    /// The text that no other run has.
    pub(crate) fn run(&self) -> &str {
        &self.run
    }

    /// A number that no other value of this run has.
    pub(crate) fn next(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The value of a variable; `None` for a scope, which only a server can make.
    pub(crate) fn make(&self, generator: &Generator) -> Option<Value> {
        let prefix = generator.prefix.as_deref().unwrap_or_default();
        Some(match generator.make {
            GeneratorKind::Unique => format!("{prefix}{}{:04x}", self.run, self.next()).into(),
            GeneratorKind::Hex => {
                let digits = usize::try_from(generator.digits.unwrap_or(0)).unwrap_or(0);
                let hex = sha256(format!("{} {}", self.run, self.next()).as_bytes()).hex();
                format!("{prefix}{}", hex.get(..digits).unwrap_or(&hex)).into()
            }
            GeneratorKind::Time => {
                let time = accord_system::now().add_seconds(generator.seconds.unwrap_or(0));
                time.to_seconds_text().into()
            }
            GeneratorKind::Text => {
                let times = usize::try_from(generator.times.unwrap_or(0)).unwrap_or(0);
                generator.text.as_deref().unwrap_or_default().repeat(times).into()
            }
            GeneratorKind::Scope => return None,
        })
    }
}
