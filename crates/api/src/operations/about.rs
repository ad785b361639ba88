//! The server itself: health, metrics, documentation.

use accord_base::{Need, ProjectId};
use accord_contract::codes::Code;
use accord_contract::message;
use accord_contract::wire::{Object, True};

use crate::body::{Json, MediaType, NoBody, Text, Verbatim};
use crate::parameter::{Id, NoParams};
use crate::{operation, params};

/// Metrics in the text format of Prometheus.
#[derive(Clone, Copy, Debug)]
pub enum Metrics {}

impl MediaType for Metrics {
    const NAME: &'static str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

/// An HTML page.
#[derive(Clone, Copy, Debug)]
pub enum Html {}

impl MediaType for Html {
    const NAME: &'static str = "text/html; charset=utf-8";
}

message! {
    /// The server answers.
    pub struct Health("Health", open) {
        /// The process answers.
        required ok: True = "ok", "success-flag";
        /// Whether it accepts requests.
        required ready: bool = "ready", "flag";
    }
}

params! {
    /// What is described.
    pub struct DescribedProject {
        /// Describe requests for this project alone: a tool that generates requests from the
        /// document can then use nothing but the document.
        optional project: Id<ProjectId> = Id::new("project_id");
    }
}

operation! {
    /// Reports whether the server accepts requests. Needs no key.
    pub struct ReadHealth("health", Get "/healthz") of Agentic {
        path NoParams;
        query NoParams;
        body NoBody;
        needs Need::Read;
        answers 200 "It does.", Json<Health>;
        refuses [&[Code::HostClosing]];
    }
}

operation! {
    /// Returns metrics in the text format of Prometheus.
    pub struct ReadMetrics("metrics", Get "/metrics") of Agentic {
        path NoParams;
        query NoParams;
        body NoBody;
        needs Need::Read;
        answers 200 "The metrics.", Text<Metrics>;
        refuses [&[Code::AccessDenied]];
    }
}

operation! {
    /// Describes every route as an OpenAPI 3.1 document. Needs no key.
    pub struct ReadOpenApi("openapi", Get "/openapi.json") of Agentic {
        path NoParams;
        query DescribedProject;
        body NoBody;
        needs Need::Read;
        answers 200 "The document.", Verbatim<Object>;
        refuses [];
    }
}

operation! {
    /// Describes every route as an HTML page. Needs no key.
    pub struct ReadDocs("docs", Get "/docs") of Agentic {
        path NoParams;
        query NoParams;
        body NoBody;
        needs Need::Read;
        answers 200 "The page.", Text<Html>;
        refuses [];
    }
}
