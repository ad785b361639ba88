//! What a version said that does not count.

use std::collections::BTreeSet;
use std::fmt;

use accord_contract::Value;

use super::FORMER;
use crate::task::{TaskFile, split_comments, split_work_log};

/// What changes with everything else, or is united.
const LEFT_OUT: [&str; 8] = [
    "id",
    "lease",
    "updatedAt",
    "lastTransitionAt",
    "contentHash",
    "dependsOn",
    "metadata",
    "schemaVersion",
];
/// The longest value that is said.
const LONGEST: usize = 120;

/// A member of which two versions have different values.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Dropped {
    pub member: String,
    kept: Option<Value>,
    lost: Option<Value>,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = |value: &Option<Value>| match value {
            None => "no value".to_owned(),
            Some(Value::String(text)) => short(&text.replace('\n', " ")),
            Some(value) => short(&value.to_string()),
        };
        write!(f, "{}: {} counts, {} is dropped", self.member, said(&self.kept), said(&self.lost))
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("\"{}…\"", &text[..end]),
        None => format!("\"{text}\""),
    }
}

/// What a version that lost changed, and the file does not have.
pub(super) fn dropped(file: &TaskFile, lost: &TaskFile, base: Option<&TaskFile>) -> Vec<Dropped> {
    let names = |file: &TaskFile| {
        let own = file.members().keys().filter(|name| !LEFT_OUT.contains(&name.as_str()));
        let metadata = file.task().metadata.iter().flat_map(|it| it.keys());
        let metadata = metadata.filter(|name| name.as_str() != FORMER);
        let own = own.map(|name| (false, name.clone()));
        own.chain(metadata.map(|name| (true, name.clone()))).collect::<BTreeSet<_>>()
    };
    let of = |file: &TaskFile, (is_inner, name): &(bool, String)| {
        let value = match is_inner {
            true => file.task().metadata(name),
            false => file.members().get(name),
        };
        value.filter(|value| !value.is_null()).cloned()
    };
    let mut all = names(file);
    all.extend(names(lost));
    let mut found = Vec::new();
    for name in all {
        let (kept, said) = (of(file, &name), of(lost, &name));
        if kept != said && base.is_none_or(|base| of(base, &name) != said) {
            let member = if name.0 { format!("metadata.{}", name.1) } else { name.1 };
            found.push(Dropped { member, kept, lost: said });
        }
    }
    let text = |file: &TaskFile| split_comments(&split_work_log(file.body()).0).0;
    let (kept, said) = (text(file), text(lost));
    if kept != said && base.is_none_or(|base| text(base) != said) {
        let only = |text: &str, other: &str| -> Value {
            let lines = text.lines().filter(|line| !other.lines().any(|known| known == *line));
            lines.collect::<Vec<_>>().join("\n").into()
        };
        let (kept, lost) = (Some(only(&kept, &said)), Some(only(&said, &kept)));
        found.push(Dropped { member: "body".to_owned(), kept, lost });
    }
    found
}
