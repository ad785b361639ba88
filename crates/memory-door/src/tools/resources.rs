//! Packages as resources, one each: `accord://projects/{project_id}/packages/{package_id}`.
//!
//! Invariants:
//! - Only packages that the caller can read are listed and read: every page is a request of the
//!   caller.
//! - A page is bounded in number and bytes, however large the packages are. It may have fewer
//!   resources than others, or none, and still be followed by another.

use accord_api::{Json, NoParams};
use accord_contract::text::{percent_decoded, percent_encoded};
use accord_contract::{Code, Failure, Value};
use accord_memory_core::operations::{
    InProject, ListProjects, OfPackage, PackageWithin, ProjectList, ProjectParams, PullPackages,
    PullParams, ReadPackage,
};
use futures_util::FutureExt as _;
use rmcp::model::{Resource, ResourceContents};

use super::{id, reading};
use accord_mcp::raw;
use accord_mcp::resource::{ListRequest, ResourcePage, ResourceSet, Template};
use accord_mcp::tool_result::ToolError;
use accord_serving::Api;

pub(super) static PACKAGES: ResourceSet = ResourceSet {
    templates: &[Template {
        uri: "accord://projects/{project_id}/packages/{package_id}",
        name: "package",
        title: "Package",
        description: "A package of a project: what was done, decided and left open. Its ids are \
            percent-encoded.",
    }],
    media_type: "application/json",
    read: |uri| {
        let (project, package) = parse(uri)?;
        let path = OfPackage { package: package.parse().ok()? };
        Some(reading::<ReadPackage>(path, PackageWithin { project: Some(project.parse().ok()?) }))
    },
    contents: |uri, answer| Ok(ResourceContents::text(answer.text(), uri)),
    refused: |_| None,
    list: |asked| list(asked).boxed(),
};

/// A page ends when it has this many resources.
const MOST: usize = 50;
/// Or when this many bytes were read for it.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// Or when this many projects were visited.
const MOST_PROJECTS: usize = 100;
/// How many packages are read at once. A package has at most 4 MiB.
const AT_ONCE: u32 = 10;

const SCHEME: &str = "accord://projects/";

#[derive(Clone, Debug, Default)]
struct Place {
    /// The cursor of the page of projects.
    projects: Option<String>,
    /// The project in that page.
    project: Option<String>,
    /// The cursor of the page of packages.
    packages: Option<String>,
}

async fn list(asked: ListRequest<'_>) -> Result<ResourcePage, ToolError> {
    let mut place = asked.cursor.map(Place::read).transpose()?.unwrap_or_default();
    let mut page = ResourcePage::default();
    let (mut bytes, mut visited) = (0, 0);
    loop {
        let (projects, next_projects) = match asked.project {
            Some(project) => (vec![project.to_owned()], None),
            None => projects(asked.api, place.projects.as_deref()).await?,
        };
        let begin = place.project.take().unwrap_or_default();
        for project in projects.iter().filter(|project| **project >= begin) {
            // The project of the cursor may be gone, and a cursor is of one project.
            let mut cursor = place.packages.take().filter(|_| *project == begin);
            loop {
                if page.resources.len() >= MOST || bytes >= MOST_BYTES || visited >= MOST_PROJECTS {
                    let project = Some(project.clone());
                    let next = Place { projects: place.projects, project, packages: cursor };
                    page.next_cursor = Some(next.written());
                    return Ok(page);
                }
                cursor = packages(asked.api, project, cursor, &mut bytes, &mut page).await?;
                if cursor.is_none() {
                    break;
                }
            }
            visited += 1;
        }
        let Some(next) = next_projects else { return Ok(page) };
        place = Place { projects: Some(next), ..Place::default() };
    }
}

/// A page of the ids of projects, in order, and the cursor of the next one.
async fn projects(
    api: &dyn Api,
    cursor: Option<&str>,
) -> Result<(Vec<String>, Option<String>), ToolError> {
    let cursor = cursor.map(str::to_owned);
    let asked = ProjectParams { limit: Some(200), cursor, ..ProjectParams::default() };
    let answer = reading::<ListProjects>(NoParams, asked).send(api).await?;
    let page = answer.read::<Json<ProjectList>>()?.0;
    let ids = page.projects.into_iter().map(|project| project.project_id.into_string());
    Ok((ids.collect(), page.next_cursor))
}

/// Adds a page of packages, and returns the cursor of the next one.
async fn packages(
    api: &dyn Api,
    project: &str,
    cursor: Option<String>,
    bytes: &mut usize,
    page: &mut ResourcePage,
) -> Result<Option<String>, ToolError> {
    let path = InProject { project: id("project_id", project)? };
    let asked = PullParams { limit: Some(AT_ONCE), cursor, ..PullParams::default() };
    let answer = match reading::<PullPackages>(path, asked).send(api).await {
        // The first deposit creates the project. Clients take a refusal for a server that does not
        // work, and offer none of its tools.
        Err(error) if error.is(Code::AgenticProjectNotFound) => return Ok(None),
        answer => answer?,
    };
    *bytes += answer.text().len();
    let unknown = || Failure::new(Code::HostProtocol, "the answer of the host is not a list");
    let (mut listed, mut next) = (Vec::new(), None);
    // Packages can be large, so only the members that are shown are parsed.
    for (name, value) in raw::members(answer.text()).ok_or_else(unknown)? {
        match name {
            "packages" => listed = raw::items(value).ok_or_else(unknown)?,
            "next_cursor" => next = serde_json::from_str(value).ok().flatten(),
            _ => {}
        }
    }
    page.resources.extend(listed.into_iter().filter_map(resource));
    Ok(next)
}

/// A package, given as its text, as clients list it.
fn resource(package: &str) -> Option<Resource> {
    let members = raw::members(package)?;
    let value = |wanted: &str| -> Option<Value> {
        let (_, value) = members.iter().find(|(name, _)| *name == wanted)?;
        serde_json::from_str(value).ok()
    };
    let shown = |wanted: &str| match value(wanted) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let (project, id) = (shown("project_id")?, shown("package_id")?);
    let author = value("created_by")
        .and_then(|author| Some(format!(" by {}:{}", text(&author, "type")?, text(&author, "id")?)))
        .unwrap_or_default();
    let description = format!(
        "{} ({}){author}, {}, in {project}",
        shown("package_type").unwrap_or_default(),
        shown("status").unwrap_or_default(),
        shown("created_at").unwrap_or_default(),
    );
    let listed = Resource::new(uri(&project, &id), id)
        .with_title(shown("title")?)
        .with_description(description)
        .with_mime_type(PACKAGES.media_type)
        .with_size(package.len() as u64);
    Some(listed)
}

fn uri(project: &str, package: &str) -> String {
    format!("{SCHEME}{}/packages/{}", percent_encoded(project), percent_encoded(package))
}

/// The project and the package that a URI names.
fn parse(uri: &str) -> Option<(String, String)> {
    let (project, package) = uri.strip_prefix(SCHEME)?.split_once("/packages/")?;
    let part = |part: &str| {
        let is_one = !part.is_empty() && !part.contains(['/', '?', '#']);
        percent_decoded(part).filter(|_| is_one)
    };
    Some((part(project)?, part(package)?))
}

impl Place {
    fn read(cursor: &str) -> Result<Self, Failure> {
        let invalid = || {
            let message = "this is not a cursor of a list of resources";
            Failure::new(Code::McpArgumentInvalid, message).at("/cursor")
        };
        let parts: Option<Vec<String>> = cursor.split('&').map(percent_decoded).collect();
        let parts: [String; 3] =
            parts.and_then(|parts| parts.try_into().ok()).ok_or_else(invalid)?;
        let [projects, project, packages] =
            parts.map(|part| Some(part).filter(|part| !part.is_empty()));
        Ok(Self { projects, project, packages })
    }

    fn written(&self) -> String {
        let parts = [&self.projects, &self.project, &self.packages];
        let part = |part: &str| percent_encoded(part).to_string();
        parts.map(|given| given.as_deref().map(part).unwrap_or_default()).join("&")
    }
}

fn text<'a>(document: &'a Value, name: &str) -> Option<&'a str> {
    document.get(name).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_one_package() {
        for (project, package) in [("shop", "pkg_1"), ("a/b", "日本/1 %"), ("p", "a&b=c#?")] {
            let uri = uri(project, package);
            assert_eq!(parse(&uri), Some((project.to_owned(), package.to_owned())), "{uri}");
        }
        for uri in [
            "",
            "accord://projects/shop",
            "accord://projects/shop/packages/",
            "accord://projects//packages/a",
            "accord://projects/a/b/packages/c",
            "accord://projects/a/packages/b/c",
            "accord://projects/a/packages/%zz",
            "accord://projects/a/packages/%ff",
            "file:///projects/a/packages/b",
        ] {
            assert_eq!(parse(uri), None, "{uri}");
        }
    }

    #[test]
    fn a_cursor_says_where_a_page_begins() {
        let place =
            Place { projects: None, project: Some("a&b/日".into()), packages: Some("c%=".into()) };
        let read = Place::read(&place.written()).unwrap();
        assert_eq!(
            (read.projects, read.project, read.packages),
            (place.projects, place.project, place.packages)
        );
        for garbage in ["", "a", "a&b&c&d", "%&%&%"] {
            assert!(Place::read(garbage).is_err(), "{garbage}");
        }
    }
}
