//! `accord context pull`.

use accord_api::body::Either;
use accord_api::{Answered, Call, Json, NoBody};
use accord_contract::Code;
use accord_memory_core::operations::{
    ListRevisions, OfPackage, PackageWithin, PullPackages, PullParams, ReadPackage, SearchBy,
};
use accord_memory_core::package::Status;
use accord_memory_core::query::PullMode;
use clap::builder::PossibleValuesParser;

use crate::host::{
    Connection, HostArgs, ProjectArg, id_of, in_project, print_document, print_items, print_noted,
};
use crate::{CliError, Exit, Result, print_note};
use crate::{print_line, render};

/// Read packages: one by its id, the latest, or the matches of a query
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PullArgs {
    /// The id of one package, or its beginning [default: the latest packages]
    #[arg(value_name = "ID",
          conflicts_with_all = ["latest", "query", "status", "session", "limit", "cursor"])]
    id: Option<String>,

    /// Show the revisions of the package, with the notes of reviewers
    #[arg(long, requires = "id")]
    history: bool,

    /// The number of latest packages [default: 5]
    #[arg(long, value_name = "N", conflicts_with_all = ["query", "limit"])]
    latest: Option<u32>,

    /// A search text
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,

    /// How to search: by words, by meaning or by both [default: the best available]
    #[arg(long, value_name = "WAY", requires = "query",
          value_parser = ["keyword", "semantic", "hybrid"])]
    search: Option<String>,

    /// Only packages with this status
    #[arg(long, value_name = "STATUS",
          value_parser = PossibleValuesParser::new(Status::ALL.iter().map(|it| it.as_str())))]
    status: Option<String>,

    /// Only packages of this session, by its id or the beginning of it
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// The maximum number of packages
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// Continue after an earlier page, with the cursor that it printed
    #[arg(long, value_name = "CURSOR", conflicts_with = "query")]
    cursor: Option<String>,

    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    host: HostArgs,
}

impl PullArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        match &self.id {
            Some(id) => self.one(id),
            None => self.several(),
        }
    }

    fn one(&self, id: &str) -> Result<Exit> {
        let project = self.project.get(&self.host.target)?;
        let host = self.host.connect()?;
        let id = &host.package_id(id, project.as_deref())?;
        match self.ask_for_one(&host, id, project.as_deref()) {
            Err(error) if error.code() == Some(Code::AgenticPackageNotFound) => {
                if self.host.json {
                    print_line("null")?;
                } else {
                    let place = project.map_or(String::new(), |project| format!(" in {project}"));
                    print_note(render::clean(&format!("no package {id}{place}")));
                }
                Ok(Exit::No)
            }
            printed => printed,
        }
    }

    fn ask_for_one(&self, host: &Connection, id: &str, project: Option<&str>) -> Result<Exit> {
        let path = OfPackage { package: id_of("package_id", id)? };
        let project = project.map(|id| id_of("project_id", id)).transpose()?;
        let (json, within) = (self.host.json, PackageWithin { project });
        if self.history {
            let answered = host.ask::<ListRevisions>(path, within)?;
            let revisions = &answered.answer.0.revisions;
            return print_document(json, &answered.text, |page| render::revisions(page, revisions));
        }
        let call = Call::<ReadPackage>::new(path, within, NoBody);
        let answer = host.send(call.encode().into())?;
        let superseded_by = answer.superseded_by.clone();
        let review = answer.review.as_deref().and_then(render::review_of);
        let printed = print_noted(json, &answer.read()?, |page, package| {
            render::whole(page, package);
            if let Some(review) = &review {
                page.gap();
                render::review_note(page, review);
            }
        })?;
        if let Some(review) = review.filter(|_| json) {
            print_note(render::clean(&render::review_line(&review)));
        }
        if let Some(by) = superseded_by {
            print_note(format!("superseded by {}", render::clean(&by)));
        }
        Ok(printed)
    }

    fn several(&self) -> Result<Exit> {
        let host = self.host.connect()?;
        let project = self.project.required(&self.host.target, &host)?;
        let session = self.session.as_ref().map(|id| host.session_id(id, Some(&project)));
        let session = session.transpose()?;
        let asked = PullParams {
            mode: self.query.is_some().then_some(PullMode::Relevant),
            query: self.query.clone(),
            search: self.search.as_deref().and_then(SearchBy::parse),
            status: self.status.as_deref().and_then(Status::parse),
            session_id: session.map(|id| id_of("session_id", &id)).transpose()?,
            limit: self.latest.or(self.limit),
            cursor: self.cursor.clone(),
            ..PullParams::default()
        };
        let answered = host.ask::<PullPackages>(in_project(&project)?, asked)?;
        let Either::One(list) = answered.answer else {
            let message = "the answer is one package, and no list";
            return Err(CliError::new(Code::HostProtocol, message));
        };
        let answered = Answered { text: answered.text, answer: Json(list) };
        let is_narrowed = self.status.is_some() || self.session.is_some() || self.cursor.is_some();
        print_items(self.host.json, &answered, render::packages, || {
            match (&self.query, is_narrowed) {
                (Some(_), _) => format!("no package in {project} matches the query"),
                (None, true) => format!("no matching package in {project}"),
                (None, false) => format!(
                    "{project} has no packages; `accord context deposit --project {project} \
                     --title TEXT` adds one"
                ),
            }
        })
    }
}

const EXAMPLES: &str = "\
Examples:
  accord context pull --project shop                       the latest five
  accord context pull --project shop --query \"backups\"
  accord context pull --project shop --status awaiting_review
  accord context pull pkg_1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d

Exit codes: 0 success; 1 no package with that id (with --json: `null`); 2 error.";
