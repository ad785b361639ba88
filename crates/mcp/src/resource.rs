//! Resources: documents of a host that a client can attach, by their URIs.

use accord_contract::{Code, Failure};
use futures_util::future::BoxFuture;
use rmcp::model::{ErrorData, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use super::{Answer, HostRequest, ToolError, Toolset};
use accord_serving::Api;

#[derive(Debug)]
pub struct ResourceSet {
    pub templates: &'static [Template],
    pub media_type: &'static str,
    /// The request that reads a resource; `None` if the URI has another form.
    pub read: fn(&str) -> Option<HostRequest>,
    /// How the answer becomes the contents of the resource.
    pub contents: fn(&str, &Answer) -> Result<ResourceContents, Failure>,
    /// The protocol error for a failure for which the protocol of the set has its own. It tells
    /// nothing beyond itself.
    pub refused: fn(&ToolError) -> Option<ErrorData>,
    /// A page of the resources of one project, or of all that the caller can read.
    pub list: for<'a> fn(ListRequest<'a>) -> BoxFuture<'a, Result<ResourcePage, ToolError>>,
}

#[derive(Debug)]
pub struct Template {
    /// The form, with the variable parts in braces.
    pub uri: &'static str,
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
}

#[derive(Clone, Copy)]
pub struct ListRequest<'a> {
    pub api: &'a dyn Api,
    /// Only the resources of this project.
    pub project: Option<&'a str>,
    /// The cursor that the page before gave.
    pub cursor: Option<&'a str>,
}

#[derive(Debug, Default)]
pub struct ResourcePage {
    pub resources: Vec<Resource>,
    pub next_cursor: Option<String>,
}

impl ResourceSet {
    pub fn described(&self) -> Vec<ResourceTemplate> {
        let templates = self.templates.iter().map(|template| {
            ResourceTemplate::new(template.uri, template.name)
                .with_title(template.title)
                .with_description(template.description)
                .with_mime_type(self.media_type)
        });
        templates.collect()
    }

    pub async fn get(&self, uri: &str, api: &dyn Api) -> Result<ReadResourceResult, ToolError> {
        let unknown = || {
            let shown: String = uri.chars().take(200).collect();
            let forms: Vec<&str> = self.templates.iter().map(|template| template.uri).collect();
            let hint = format!("A resource is {}.", forms.join(" or "));
            let message = format!("there is no resource {shown:?}");
            Failure::new(Code::McpResourceUnknown, message).suggesting(hint)
        };
        let answer = (self.read)(uri).ok_or_else(unknown)?.send(api).await?;
        let contents = (self.contents)(uri, &answer)?.with_mime_type(self.media_type);
        Ok(ReadResourceResult::new(vec![contents]))
    }
}

/// The protocol error for a resource or prompt that a host does not give.
pub fn protocol_error(error: ToolError, set: &Toolset) -> ErrorData {
    let (code, message, data) = error.parts(set);
    let data = Some(json!({ "error": data }));
    match Code::parse(&code) {
        Some(
            Code::McpResourceUnknown | Code::AgenticPackageNotFound | Code::AgenticProjectNotFound,
        ) => ErrorData::resource_not_found(message, data),
        Some(
            Code::McpPromptUnknown
            | Code::McpArgumentMissing
            | Code::McpArgumentInvalid
            | Code::McpArgumentUnknown
            | Code::AgenticInvalidCursor
            | Code::AgenticInvalidSchema,
        ) => ErrorData::invalid_params(message, data),
        _ => ErrorData::new(REFUSED, message, data),
    }
}

/// The host refused the request, or could not be reached.
const REFUSED: rmcp::model::ErrorCode = rmcp::model::ErrorCode(-32_000);
