//! Makes the vectors of packages, after their commit.
//!
//! The queue is what the store lists as without vectors of the current model. So it survives
//! restarts, outages of the server and changes of the model. New packages come first, then older
//! ones from the newest to the oldest.
//!
//! A server that fails is asked again with growing delays. If it answers a short text while it
//! fails with others, those are at fault: they are sent in smaller groups, then shortened, then
//! given up. A package without any vector is stored with none, so that it does not stop the others.
//!
//! A server without much power answers one request after the other, so that a search waits for a
//! request of the queue. When a search has waited in vain, requests get smaller for a while.

use std::future::Future;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use accord_base::ProjectId;
use accord_contract::Failure;
use accord_memory_core::PackageId;
use accord_store::{
    Advance, Listener, Order, ReadUnit, Space, StoreErrorKind, UnembeddedQuery, WriteUnit,
};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::Embedder;
use super::passages::passages;
use super::server::{EmbedError, EmbedErrorKind, PROBE};
use crate::served::sound_package;
use crate::{Memory, UnitResult, load};

/// How many packages are read at once: as many as a request may have texts, within these. A package
/// has one passage or more.
const PAGES: (usize, usize) = (16, 256);
/// The first delay after a failure, and the longest.
const DELAYS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(60));
/// The longest delay that the server can ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(600);
/// How often everything that waits is counted while there is nothing to do.
const RECOUNT: Duration = Duration::from_secs(300);
/// After how many requests without a search that waited in vain requests get larger again.
const CALM: u32 = 64;
/// A text that is still refused at this size is given up, in bytes.
const SHORTEST: usize = 100;

impl Memory {
    /// Makes the vectors of packages that have none, until `closing`.
    pub async fn embed_packages(&self, closing: impl Future<Output = ()>) {
        let Some(embedder) = self.options().embedder.clone() else { return };
        let wake = Arc::new(Wake::default());
        self.store().subscribe(Arc::downgrade(&wake) as Weak<dyn Listener>);
        let queue = Queue {
            memory: self.clone(),
            embedder,
            wake,
            place: None,
            must_check: true,
            failed: 0,
            pace: BatchSize::default(),
        };
        tokio::select! {
            () = closing => {}
            () = queue.run() => {}
        }
    }
}

/// Wakes the queue after a commit.
#[derive(Debug, Default)]
struct Wake(Notify);

impl Listener for Wake {
    fn committed(&self, advances: &[Advance]) {
        // The queue's own commits have no events.
        if !advances.is_empty() {
            self.0.notify_one();
        }
    }
}

struct Queue {
    memory: Memory,
    embedder: Arc<Embedder>,
    wake: Arc<Wake>,
    /// `None` before the first answer of the server.
    place: Option<Place>,
    /// Whether the server must answer a probe before packages are sent.
    must_check: bool,
    /// Failures in a row.
    failed: u32,
    pace: BatchSize,
}

/// How large requests are.
#[derive(Clone, Copy, Debug, Default)]
struct BatchSize {
    /// How often the largest size is halved.
    halved: u32,
    /// How many searches had waited in vain when that was last changed.
    slow_queries: u64,
    requests: u32,
}

impl BatchSize {
    /// The most texts of the next request.
    fn size(&mut self, largest: usize, slow_queries: u64) -> usize {
        if slow_queries > self.slow_queries {
            *self = Self { halved: self.halved + 1, slow_queries, requests: 0 };
        } else if self.requests >= CALM {
            *self = Self { halved: self.halved.saturating_sub(1), slow_queries, requests: 0 };
        }
        self.requests += 1;
        self.halved = self.halved.min(largest.max(1).ilog2());
        (largest >> self.halved).max(1)
    }
}

#[derive(Clone, Copy, Debug)]
struct Place {
    /// The dimension of the model's vectors.
    dimension: usize,
    /// Packages after this number are new.
    newest: u64,
    /// Packages from this number on were looked at; `None` when all were.
    back: Option<u64>,
    /// How many packages were still without vectors when they were last counted after a pass.
    left: Option<u64>,
}

#[derive(Clone, Debug)]
struct Waiting {
    seq: u64,
    project_id: ProjectId,
    package_id: PackageId,
    /// None if the package is damaged. Readers report that.
    passages: Vec<String>,
}

enum Stop {
    Server(EmbedError),
    Store(Failure),
}

impl Queue {
    async fn run(mut self) {
        loop {
            match self.step().await {
                Ok(true) => self.failed = 0,
                Ok(false) => {
                    self.failed = 0;
                    self.rest().await;
                }
                Err(stop) => self.pause(stop).await,
            }
        }
    }

    /// Makes the vectors of the next packages. Returns whether there were any.
    async fn step(&mut self) -> Result<bool, Stop> {
        let mut place = match self.place {
            Some(place) if !self.must_check => place,
            _ => self.check().await?,
        };
        let model = self.embedder.model().to_owned();
        let limit = self.embedder.options.batch.clamp(PAGES.0, PAGES.1);
        let read = move |unit: &dyn ReadUnit| page(unit, &model, place, limit);
        let (waiting, is_new) = self.memory.read(read).await?;
        if waiting.is_empty() {
            place.back = None;
            self.place = Some(place);
            (self.embedder.health.waiting).store(place.left.unwrap_or_default(), Ordering::Relaxed);
            return Ok(false);
        }
        // Between two counts this is the least that waits.
        let count = waiting.len() as u64;
        self.embedder.health.waiting.fetch_max(count, Ordering::Relaxed);
        let most = self.size();
        let mut group: Vec<Waiting> = Vec::new();
        let mut rest = waiting.into_iter().peekable();
        while let Some(package) = rest.next() {
            let seq = package.seq;
            group.push(package);
            let passages: usize = group.iter().map(|package| package.passages.len()).sum();
            if passages < most && rest.peek().is_some() {
                continue;
            }
            self.embed(std::mem::take(&mut group), place.dimension).await?;
            if is_new {
                place.newest = seq;
            } else {
                place.back = Some(seq);
            }
            self.place = Some(place);
        }
        Ok(true)
    }

    /// Asks the server for a vector, and starts again when the dimension changed.
    async fn check(&mut self) -> Result<Place, Stop> {
        let dimension = self.probe().await?;
        self.embedder.health.dimension.store(dimension, Ordering::Relaxed);
        self.embedder.health.succeeded();
        self.must_check = false;
        if let Some(place) = self.place
            && place.dimension == dimension
        {
            return Ok(place);
        }
        self.embedder.queries.clear();
        let (count, newest) = self.count().await?;
        if count > 0 {
            let model = self.embedder.model();
            tracing::info!(model, "{count} packages wait for their vectors");
        }
        let back = Some(newest.saturating_add(1));
        let place = Place { dimension, newest, back, left: None };
        self.place = Some(place);
        Ok(place)
    }

    /// Counts the waiting packages. Returns their number, and the number of the newest package.
    async fn count(&self) -> Result<(u64, u64), Failure> {
        let count = self.memory.unembedded(&self.embedder).await?;
        let newest = self.memory.read(|unit| Ok(unit.newest_package()?)).await?;
        self.embedder.health.waiting.store(count, Ordering::Relaxed);
        Ok((count, newest))
    }

    /// The dimension of the server's vectors.
    async fn probe(&self) -> Result<usize, EmbedError> {
        let vectors = self.ask(&[PROBE.to_owned()]).await?;
        Ok(vectors.first().map_or(0, Vec::len))
    }

    async fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embedder.server.embed(texts, self.embedder.options.timeout).await
    }

    /// The most texts of the next request.
    fn size(&mut self) -> usize {
        let slow_queries = self.embedder.health.slow_queries.load(Ordering::Relaxed);
        self.pace.size(self.embedder.options.batch, slow_queries)
    }

    /// Makes and stores the vectors of some packages.
    async fn embed(&mut self, group: Vec<Waiting>, dimension: usize) -> Result<(), Stop> {
        let prefix = &self.embedder.options.passage_prefix;
        let texts = group.iter().flat_map(|package| &package.passages);
        let texts: Vec<String> = texts.map(|text| format!("{prefix}{text}")).collect();
        let mut vectors = self.embed_each(texts, dimension).await?.into_iter();
        let mut made = Vec::new();
        for package in group {
            let count = package.passages.len();
            let values: Vec<f32> = vectors.by_ref().take(count).flatten().flatten().collect();
            if count > 0 {
                made.push((package.project_id, package.package_id, values));
            }
        }
        for (project, package, _) in made.iter().filter(|(.., values)| values.is_empty()) {
            let (project, package) = (project.as_str(), package.as_str());
            tracing::warn!(
                project,
                package,
                "the embeddings server refuses the text of a package; it is found by words alone"
            );
        }
        let (model, count) = (self.embedder.model().to_owned(), made.len() as u64);
        let job = move |unit: &mut dyn WriteUnit| {
            let space = Space { model: &model, dimension };
            for (project, package, values) in &made {
                match unit.put_embedding(project, package, space, values) {
                    // The package was removed meanwhile.
                    Err(error) if error.kind() == StoreErrorKind::Conflict => {}
                    stored => drop(stored?),
                }
            }
            Ok(())
        };
        self.memory.write(job).await?;
        let health = &self.embedder.health;
        health.made.fetch_add(count, Ordering::Relaxed);
        // Only this task changes it.
        let waiting = health.waiting.load(Ordering::Relaxed);
        health.waiting.store(waiting.saturating_sub(count), Ordering::Relaxed);
        Ok(())
    }

    /// The vectors of texts; `None` for those that the server refuses.
    async fn embed_each(
        &mut self,
        mut texts: Vec<String>,
        dimension: usize,
    ) -> Result<Vec<Option<Vec<f32>>>, Stop> {
        let mut vectors = vec![None; texts.len()];
        let most = self.size();
        let starts = (0..texts.len()).step_by(most);
        let mut todo: Vec<_> = starts.map(|at| at..texts.len().min(at + most)).rev().collect();
        while let Some(range) = todo.pop() {
            if let Some(made) = self.embed_or_blame(&texts[range.clone()], dimension).await? {
                for (place, vector) in range.zip(made) {
                    vectors[place] = Some(vector);
                }
            } else if range.len() > 1 {
                let middle = range.start + range.len() / 2;
                todo.extend([middle..range.end, range.start..middle]);
            } else {
                let text = &mut texts[range.start];
                text.truncate(text.floor_char_boundary(text.len() / 2));
                if text.len() >= SHORTEST {
                    todo.push(range);
                }
            }
        }
        Ok(vectors)
    }

    /// The vectors of texts; `None` if the server fails with these and works otherwise.
    async fn embed_or_blame(
        &mut self,
        texts: &[String],
        dimension: usize,
    ) -> Result<Option<Vec<Vec<f32>>>, EmbedError> {
        let error = match self.ask(texts).await {
            Ok(vectors) if vectors.iter().all(|vector| vector.len() == dimension) => {
                self.embedder.health.succeeded();
                return Ok(Some(vectors));
            }
            Ok(_) => EmbedError::failed("the dimension of the vectors changed".to_owned()),
            Err(error) => error,
        };
        if matches!(error.kind, EmbedErrorKind::Down | EmbedErrorKind::Limited { .. }) {
            return Err(error);
        }
        // Of two errors, that of the probe says more about the server.
        if self.probe().await? != dimension {
            return Err(error);
        }
        self.embedder.health.note(&error);
        self.embedder.health.succeeded();
        Ok(None)
    }

    async fn rest(&mut self) {
        tokio::select! {
            () = self.wake.0.notified() => return,
            () = self.embedder.health.changed.notified() => {
                self.must_check = true;
                return;
            }
            () = sleep(RECOUNT) => {}
        }
        // The number of a removed package can be used again, and such a package looks old. A
        // damaged package stays without vectors, so another pass needs more of them than the last
        // time.
        let Some(place) = self.place else { return };
        if let Ok((count, newest)) = self.count().await {
            let is_more = count > place.left.unwrap_or_default();
            let back = is_more.then_some(newest.saturating_add(1));
            self.place = Some(Place { left: Some(count), back, ..place });
        }
    }

    async fn pause(&mut self, stop: Stop) {
        self.failed = self.failed.saturating_add(1);
        let (first, longest) = DELAYS;
        let doubled = first.saturating_mul(1 << (self.failed - 1).min(16));
        let mut delay = doubled.min(longest);
        match stop {
            Stop::Server(error) => {
                self.must_check = true;
                if let EmbedErrorKind::Limited { retry_after } = error.kind {
                    self.embedder.health.note(&error);
                    delay = retry_after.unwrap_or(delay).clamp(first, MAX_RETRY_AFTER);
                } else {
                    self.embedder.health.down(&error);
                }
            }
            Stop::Store(failure) => {
                tracing::error!(code = %failure.code, "vectors: {}", failure.message);
            }
        }
        // Deposits go on during an outage, so what waits is counted again.
        drop(self.count().await);
        // A search may find out earlier that the server works again.
        let until = async {
            loop {
                self.embedder.health.changed.notified().await;
                if self.embedder.health.is_usable() == Some(true) {
                    return;
                }
            }
        };
        drop(timeout(delay, until).await);
    }
}

/// The next packages, and whether they are new.
fn page(
    unit: &dyn ReadUnit,
    model: &str,
    place: Place,
    limit: usize,
) -> UnitResult<(Vec<Waiting>, bool)> {
    let space = Space { model, dimension: place.dimension };
    let new = UnembeddedQuery { order: Order::OldestFirst, after: Some(place.newest), limit };
    let found = unit.unembedded(space, &new)?;
    let is_new = !found.is_empty();
    let found = match place.back {
        Some(back) if !is_new => {
            let older = UnembeddedQuery { order: Order::NewestFirst, after: Some(back), ..new };
            unit.unembedded(space, &older)?
        }
        _ => found,
    };
    let mut waiting = Vec::new();
    for package in found {
        let row = load::if_sound(unit.package(&package.project_id, &package.package_id))?;
        let sound = row.and_then(|row| sound_package(row, &mut Vec::new()).ok().flatten());
        let passages = sound.map(|package| passages(&package.fields().searchable()));
        waiting.push(Waiting {
            seq: package.seq,
            project_id: package.project_id,
            package_id: package.package_id,
            passages: passages.unwrap_or_default(),
        });
    }
    Ok((waiting, is_new))
}

impl From<EmbedError> for Stop {
    fn from(error: EmbedError) -> Self {
        Self::Server(error)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Store(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_get_smaller_while_searches_wait_in_vain() {
        let mut pace = BatchSize::default();
        assert_eq!([0, 1, 1, 2, 3, 9].map(|slow| pace.size(16, slow)), [16, 8, 8, 4, 2, 1]);
        assert_eq!(pace.size(16, 10), 1, "at least one");
        let sizes: Vec<_> = (0..5 * CALM).map(|_| pace.size(16, 10)).collect();
        assert!(sizes.is_sorted() && sizes.ends_with(&[16]), "{sizes:?}");
        assert_eq!(BatchSize::default().size(0, 0), 1);
    }
}
