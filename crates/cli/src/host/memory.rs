//! Answers with notes for people, and the ids of requests.

use std::str::FromStr;

use accord_api::operations::keys::KeyListEnvelope;
use accord_api::parameter::{Definition, Params};
use accord_api::{Answered, Json, NoParams};
use accord_base::refuse::{decoded, schema};
use accord_base::{IdError, ProjectId};
use accord_contract::Wire;
use accord_live_core::operations::questions::{LiveAsksEnvelope, LiveSessionsEnvelope};
use accord_memory_core::operations::{
    FactList, ListProjects, PackageList, ProjectList, ProjectParams, QuestionList, SessionList,
};
use accord_memory_core::package::PackageFields;
use accord_memory_core::{Fact, Project, Warning};

use super::{Connection, print_document};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::print_note;
use crate::render::{Page, clean};

/// An id, which is refused as a host refuses it.
pub(crate) fn id_of<T: FromStr<Err = IdError>>(name: &str, text: &str) -> Result<T, CliError> {
    text.parse().map_err(|error: IdError| schema(format!("/{name}"), error.to_string()).into())
}

/// A text as a value of a document, which is refused as a host refuses it.
pub(crate) fn text_as<T: Wire>(name: &str, text: String) -> Result<T, CliError> {
    T::from_document(text.into()).map_err(|error| decoded(error).at(format!("/{name}")).into())
}

/// A parameter that the user gave as a text, which is refused as a host refuses it.
pub(crate) fn parameter<D: Definition>(
    definition: D,
    text: Option<&str>,
) -> Result<Option<D::Value>, CliError> {
    let pairs = text.map(|text| (definition.name(), text));
    Ok(definition.value(&Params::new(pairs)?)?)
}

impl Connection {
    /// All projects of the host, archived ones included, and the ids of damaged ones.
    pub(crate) fn every_project(&self) -> Result<(Vec<Project>, Vec<ProjectId>), CliError> {
        let (mut projects, mut damaged, mut cursor) = (Vec::new(), Vec::new(), None);
        loop {
            let asked = ProjectParams {
                include_archived: true,
                limit: Some(200),
                cursor: cursor.clone(),
                max_tokens: None,
            };
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

macro_rules! lists {
    ($($list:ty),+) => {
        $(
            impl Notes for $list {
                fn notes(&self) -> Vec<String> {
                    let damaged = self.integrity_warnings.iter().flatten();
                    of_list(self.next_cursor.as_deref(), damaged.map(|id| id.as_str()))
                }
            }
        )+
    };
}

lists!(FactList, ProjectList, SessionList);

impl Notes for LiveAsksEnvelope {
    fn notes(&self) -> Vec<String> {
        of_list(self.result.next_cursor.as_deref(), std::iter::empty())
    }
}

impl Notes for LiveSessionsEnvelope {
    fn notes(&self) -> Vec<String> {
        of_list(self.result.next_cursor.as_deref(), std::iter::empty())
    }
}

impl Notes for KeyListEnvelope {
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Notes for PackageList {
    fn notes(&self) -> Vec<String> {
        let damaged = self.integrity_warnings.iter().flatten();
        let mut notes = of_list(self.next_cursor.as_deref(), damaged.map(|id| id.as_str()));
        notes.extend(of_warnings(self.warnings.as_deref().unwrap_or_default()));
        notes
    }
}

impl Notes for QuestionList {
    fn notes(&self) -> Vec<String> {
        of_list(self.next_cursor.as_deref(), self.damaged().iter().map(String::as_str))
    }
}

impl Notes for PackageFields {
    fn notes(&self) -> Vec<String> {
        of_warnings(&self.warnings()).collect()
    }
}

impl Notes for Fact {
    fn notes(&self) -> Vec<String> {
        of_warnings(&self.warnings()).collect()
    }
}

fn of_list<'a>(cursor: Option<&str>, damaged: impl Iterator<Item = &'a str>) -> Vec<String> {
    let more = cursor.map(|cursor| format!("there are more: --cursor {}", clean(cursor)));
    let damaged = damaged.map(|id| format!("damaged and left out: {}", clean(id)));
    more.into_iter().chain(damaged).collect()
}

fn of_warnings(warnings: &[Warning]) -> impl Iterator<Item = String> {
    warnings.iter().map(|warning| format!("warning: {}", clean(&warning.message)))
}

/// Prints a document, and for people its notes.
pub(crate) fn print_noted<M: Notes>(
    json: bool,
    answered: &Answered<Json<M>>,
    render: impl FnOnce(&mut Page, &M),
) -> Result<Exit, CliError> {
    let document = &answered.answer.0;
    print_document(json, &answered.text, |page| render(page, document))?;
    if !json {
        document.notes().into_iter().for_each(print_note);
    }
    Ok(Exit::Yes)
}

/// Prints a page of a list in the same way, and says something in its place where it is empty.
pub(crate) fn print_items<M: Notes>(
    json: bool,
    answered: &Answered<Json<M>>,
    render: impl FnOnce(&mut Page, &M),
    none: impl FnOnce() -> String,
) -> Result<Exit, CliError> {
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
