//! The server itself: health, metrics, documentation.

use accord_base::{Need, ProjectId};
use accord_contract::wire::True;
use accord_contract::{Code, Object, message};

use crate::body::{Json, MediaType, Text, Verbatim};
use crate::parameter::Id;
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
        needs Need::Read;
        answers 200 "It does.", Json<Health>;
        refuses [&[Code::HostClosing]];
    }

    /// Returns metrics in the text format of Prometheus.
    pub struct ReadMetrics("metrics", Get "/metrics") of Agentic {
        needs Need::Read;
        answers 200 "The metrics.", Text<Metrics>;
        refuses [&[Code::AccessDenied]];
    }

    /// Describes every route as an OpenAPI 3.1 document. Needs no key.
    pub struct ReadOpenApi("openapi", Get "/openapi.json") of Agentic {
        query DescribedProject;
        needs Need::Read;
        answers 200 "The document.", Verbatim<Object>;
        refuses [];
    }

    /// Describes every route as an HTML page. Needs no key.
    pub struct ReadDocs("docs", Get "/docs") of Agentic {
        needs Need::Read;
        answers 200 "The page.", Text<Html>;
        refuses [];
    }
}
