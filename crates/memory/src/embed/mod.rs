//! Search by meaning: vectors of packages and of queries.
//!
//! A server with the embeddings route of OpenAI's API turns texts into vectors. Texts of similar
//! meaning have vectors that are close together. A package has one vector for each of its passages
//! ([`passages`]); its similarity to a query is that of its best passage.
//!
//! Invariants:
//! - no write of a package waits for the server: vectors are made after the commit ([`queue`]);
//! - what waits is what has no vectors of the current model, so nothing else records it;
//! - a search waits for the server for a short time only, and works without it, by words;
//! - all vectors have length 1, so that the product of two is their cosine similarity.

mod health;
mod nearest;
mod passages;
mod queries;
mod queue;
mod server;
mod status;
mod vectors;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use accord_contract::Failure;

use self::health::Health;
use self::queries::QueryCache;
use self::server::Server;

pub(crate) use self::server::EmbedError;
pub(crate) use self::vectors::{NearestQuery, Vectors};

/// The server, the model, and the limits of their use.
#[derive(Clone, Debug)]
pub struct EmbeddingOptions {
    /// The address of the API: the route is `{url}/embeddings`.
    pub url: String,
    /// The name of the model, as the server knows it.
    pub model: String,
    /// The file with the bearer key, if the server needs one.
    pub key_file: Option<PathBuf>,
    /// The dimension to request; without it, the model's own.
    pub dimensions: Option<u32>,
    /// What the model expects before a query.
    pub query_prefix: String,
    /// What the model expects before a passage.
    pub passage_prefix: String,
    /// The most texts of one request.
    pub batch: usize,
    /// How long a request for packages may take.
    pub timeout: Duration,
    /// How long a request for a query may take.
    pub query_timeout: Duration,
    /// How much memory the vectors of searched projects may take, in bytes.
    pub memory: u64,
}

pub struct Embedder {
    pub(crate) options: EmbeddingOptions,
    model: String,
    server: Server,
    health: Health,
    queries: QueryCache,
}

impl EmbeddingOptions {
    /// A model of a server without a key, with the default limits.
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            model: model.into(),
            key_file: None,
            dimensions: None,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            batch: 16,
            timeout: Duration::from_secs(60),
            query_timeout: Duration::from_secs(2),
            memory: 256 << 20,
        }
    }
}

impl Embedder {
    /// An embedder. Opens no connection yet. Fails with `SETTING_INVALID` when the URL cannot be
    /// used.
    pub fn new(options: EmbeddingOptions) -> Result<Self, Failure> {
        // Vectors of passages with another prefix are others, so the prefix is part of the name.
        let model = match options.passage_prefix.as_str() {
            "" => options.model.clone(),
            prefix => format!("{} {prefix:?}", options.model),
        };
        Ok(Self {
            server: Server::new(&options)?,
            model,
            options,
            health: Health::default(),
            queries: QueryCache::default(),
        })
    }

    /// The name under which its vectors are stored.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    pub(crate) async fn query(&self, text: &str) -> Result<Arc<[f32]>, EmbedError> {
        // A known query needs no server.
        if let Some(vector) = self.queries.get(text) {
            return Ok(vector);
        }
        if let Some(error) = self.health.paused() {
            return Err(error);
        }
        let vector = self.ask(text).await?;
        self.queries.put(text, Arc::clone(&vector));
        Ok(vector)
    }

    async fn ask(&self, text: &str) -> Result<Arc<[f32]>, EmbedError> {
        let text = &text[..text.floor_char_boundary(passages::PASSAGE)];
        let input = format!("{}{text}", self.options.query_prefix);
        let asked = self.server.embed(&[input], self.options.query_timeout).await;
        let mut vectors = asked.inspect_err(|error| self.health.query_failed(error))?;
        self.health.succeeded();
        Ok(vectors.pop().unwrap_or_default().into())
    }

    /// Whether it can be used now. Asks the server if nothing is known of it yet.
    pub(crate) async fn is_usable(&self) -> bool {
        match self.health.is_usable() {
            Some(usable) => usable,
            None => self.ask(server::PROBE).await.is_ok(),
        }
    }
}

impl fmt::Debug for Embedder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Embedder").field("model", &self.model).finish_non_exhaustive()
    }
}
