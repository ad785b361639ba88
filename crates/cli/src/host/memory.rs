//! Answers with notes for people, and the ids of requests.

use std::str::FromStr;

use accord_api::operations::decisions::DecisionListEnvelope;
use accord_api::operations::inbox::InboxEnvelope;
use accord_api::operations::keys::KeyListEnvelope;
use accord_api::operations::notifications::NotificationRulesEnvelope;
use accord_api::operations::people::PersonListEnvelope;
use accord_api::parameter::{Definition, Params};
use accord_api::{Answered, Json, NoParams};
use accord_base::refuse::{decoded, schema};
use accord_base::{IdError, ProjectId};
use accord_contract::Wire;
use accord_live_core::operations::questions::{
    LiveAnswersEnvelope, LiveAsksEnvelope, LiveSessionsEnvelope,
};
use accord_memory_core::operations::{
    FactList, InProject, ListProjects, PackageList, ProjectList, ProjectParams, QuestionList,
    SessionList,
};
use accord_memory_core::package::PackageFields;
use accord_memory_core::{Fact, Project, Warning};

use super::{Connection, print_document};
use crate::render::{Page, clean};
use crate::{Exit, Result, print_note};

/// An id, which is refused as a host refuses it.
pub(crate) fn id_of<T: FromStr<Err = IdError>>(name: &str, text: &str) -> Result<T> {
    text.parse().map_err(|error: IdError| schema(format!("/{name}"), error.to_string()).into())
}

/// The path of operations on the memory of a project.
pub(crate) fn in_project(project: &str) -> Result<InProject> {
    Ok(InProject { project: id_of("project_id", project)? })
}

/// A text as a value of a document, which is refused as a host refuses it.
pub(crate) fn text_as<T: Wire>(name: &str, text: String) -> Result<T> {
    T::from_document(text.into()).map_err(|error| decoded(error).at(format!("/{name}")).into())
}

/// A parameter that the user gave as a text, which is refused as a host refuses it.
pub(crate) fn parameter<D: Definition>(
    definition: D,
    text: Option<&str>,
) -> Result<Option<D::Value>> {
    let pairs = text.map(|text| (definition.name(), text));
    Ok(definition.value(&Params::new(pairs)?)?)
}

impl Connection {
    /// All projects of the host, archived ones included, and the ids of damaged ones.
    pub(crate) fn every_project(&self) -> Result<(Vec<Project>, Vec<ProjectId>)> {
        let (mut projects, mut damaged, mut cursor) = (Vec::new(), Vec::new(), None);
        loop {
            let (include_archived, limit, from) = (true, Some(200), cursor.clone());
            let asked = ProjectParams { include_archived, limit, cursor: from, max_tokens: None };
            let page = self.ask::<ListProjects>(NoParams, asked)?.answer.0;
            projects.extend(page.projects);
            damaged.extend(page.integrity_warnings.into_iter().flatten());
            // A server that returns the same cursor again would keep this loop running for ever.
            if page.next_cursor.is_none() || page.next_cursor == cursor {
                return Ok((projects, damaged));
            }
            cursor = page.next_cursor;
        }
    }
}

/// An answer with more to say than its items.
pub(crate) trait Notes {
    /// What to say to people: where a list goes on, what it left out, what is odd about a write.
    fn notes(&self) -> Vec<String>;
}

macro_rules! notes {
    ($($answer:ty, |$self:ident| $notes:expr;)+) => {
        $(impl Notes for $answer {
            fn notes(&self) -> Vec<String> {
                let $self = self;
                $notes
            }
        })+
    };
}

notes! {
    FactList, |list| of_list(&list.next_cursor, ids(&list.integrity_warnings));
    ProjectList, |list| of_list(&list.next_cursor, ids(&list.integrity_warnings));
    SessionList, |list| of_list(&list.next_cursor, ids(&list.integrity_warnings));
    QuestionList, |list| of_list(&list.next_cursor, list.damaged());
    LiveAsksEnvelope, |list| of_list(&list.result.next_cursor, Vec::new());
    LiveAnswersEnvelope, |_list| Vec::new();
    LiveSessionsEnvelope, |list| of_list(&list.result.next_cursor, Vec::new());
    KeyListEnvelope, |_list| Vec::new();
    NotificationRulesEnvelope, |_list| Vec::new();
    PersonListEnvelope, |_list| Vec::new();
    InboxEnvelope, |list| of_list(&list.next_cursor, Vec::new());
    DecisionListEnvelope, |list| of_list(&list.next_cursor, ids(&list.damaged));
    PackageList, |list| {
        let mut notes = of_list(&list.next_cursor, ids(&list.integrity_warnings));
        notes.extend(of_warnings(list.warnings.as_deref().unwrap_or_default()));
        notes
    };
    PackageFields, |package| of_warnings(&package.warnings()).collect();
    Fact, |fact| of_warnings(&fact.warnings()).collect();
}

fn ids(ids: &Option<Vec<impl ToString>>) -> Vec<String> {
    ids.iter().flatten().map(ToString::to_string).collect()
}

fn of_list(cursor: &Option<String>, damaged: Vec<String>) -> Vec<String> {
    let more = cursor.iter().map(|cursor| format!("there are more: --cursor {}", clean(cursor)));
    more.chain(damaged.iter().map(|id| format!("damaged and left out: {}", clean(id)))).collect()
}

fn of_warnings(warnings: &[Warning]) -> impl Iterator<Item = String> {
    warnings.iter().map(|warning| format!("warning: {}", clean(&warning.message)))
}

/// Prints a document, and for people its notes.
pub(crate) fn print_noted<M: Notes>(
    json: bool,
    answered: &Answered<Json<M>>,
    render: impl FnOnce(&mut Page, &M),
) -> Result<Exit> {
    let document = &answered.answer.0;
    let printed = print_document(json, &answered.text, |page| render(page, document))?;
    if !json {
        document.notes().into_iter().for_each(print_note);
    }
    Ok(printed)
}

/// Prints a page of a list in the same way, and says something in its place where it is empty.
pub(crate) fn print_items<M: Notes>(
    json: bool,
    answered: &Answered<Json<M>>,
    render: impl FnOnce(&mut Page, &M),
    none: impl FnOnce() -> String,
) -> Result<Exit> {
    let mut is_empty = false;
    let printed = print_noted(json, answered, |page, list| {
        render(page, list);
        is_empty = page.as_str().is_empty();
    })?;
    if is_empty {
        print_note(clean(&none()));
    }
    Ok(printed)
}
