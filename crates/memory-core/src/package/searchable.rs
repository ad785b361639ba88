//! The searchable texts of a package.

use super::PackageFields;

/// The searchable texts of a package, one per weight. Lists have one item per line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SearchTexts {
    pub title: String,
    pub decisions: String,
    pub questions: String,
    pub handoff: String,
    /// Description, labels, topic, paths of deliverables, and the Markdown body.
    pub body: String,
}

impl PackageFields {
    pub fn searchable(&self) -> SearchTexts {
        let paths = self.deliverables().iter().map(|item| item.path.as_str());
        let body = [self.description(), self.topic().unwrap_or_default()]
            .into_iter()
            .chain(self.tags().iter().map(String::as_str))
            .chain(self.artifact_type.value().map(String::as_str))
            .chain(paths)
            .chain([self.content_md()])
            .filter(|text| !text.is_empty());
        SearchTexts {
            title: self.title.as_str().to_owned(),
            decisions: self.decisions_made().join("\n"),
            questions: self.open_questions().join("\n"),
            handoff: self.handoff_note().to_owned(),
            body: body.collect::<Vec<_>>().join("\n"),
        }
    }
}
