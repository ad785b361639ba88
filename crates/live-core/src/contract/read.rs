//! Reading the parts of a contract, with every violation.

use accord_contract::wire::{Names, count_of};
use accord_contract::{Code, Object, Value, closest::closest};

use crate::violation::{MOST_VIOLATIONS, Violation, listed, shorten, type_name};

/// Collects violations while a document is read. A part that cannot be read is left out, and the
/// document is refused at the end.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    violations: Vec<Violation>,
}

impl Reader {
    /// What was read, if nothing was wrong.
    pub(crate) fn finish<T>(self, read: Option<T>) -> Result<T, Vec<Violation>> {
        match read {
            Some(read) if self.violations.is_empty() => Ok(read),
            _ => Err(self.violations),
        }
    }

    pub(crate) fn report(&mut self, violation: Violation) {
        if self.violations.len() < MOST_VIOLATIONS {
            self.violations.push(violation);
        }
    }

    pub(crate) fn wrong(&mut self, field: &str, expected: &str, found: &Value) {
        let violation = Violation::new(field, format!("must be {expected}"));
        self.report(violation.expecting(expected, type_name(found)));
    }

    pub(crate) fn object<'v>(&mut self, value: &'v Value, field: &str) -> Option<&'v Object> {
        let members = value.as_object();
        if members.is_none() {
            self.wrong(field, "an object", value);
        }
        members
    }

    /// Reports a member of an earlier version.
    pub(crate) fn retired(&mut self, members: &Object, field: &str, name: &str, instead: &str) {
        if members.contains_key(name) {
            let message = format!("'{name}' was replaced by {instead}");
            let violation = Violation::new(join(field, name), message);
            self.report(violation.of_code(Code::GguiCtrRetiredField));
        }
    }

    /// Refuses the members that an entry does not have. Those that are reported already are left
    /// out.
    pub(crate) fn only(&mut self, members: &Object, field: &str, known: &[&str]) {
        for name in members.keys().filter(|name| !known.contains(&name.as_str())) {
            if self.violations.len() >= MOST_VIOLATIONS {
                return;
            }
            let place = join(field, name);
            if self.violations.iter().any(|violation| violation.field == place) {
                continue;
            }
            let meant = closest(name, known.iter().copied());
            let hint = meant.map(|meant| format!("; did you mean '{meant}'?")).unwrap_or_default();
            let message = format!("'{}' is not a member here{hint}", shorten(name));
            let violation = Violation::new(place, message);
            self.report(violation.expecting(listed(known.iter().copied()), shorten(name)));
        }
    }

    /// A text that may be absent.
    pub(crate) fn text(&mut self, members: &Object, field: &str, name: &str) -> Option<String> {
        let value = members.get(name)?;
        let text = value.as_str();
        if text.is_none() {
            self.wrong(&join(field, name), "a string", value);
        }
        text.map(str::to_owned)
    }

    /// A text that may be absent and is not empty.
    pub(crate) fn name(&mut self, members: &Object, field: &str, name: &str) -> Option<String> {
        let text = self.text(members, field, name)?;
        if text.is_empty() {
            let message = format!("'{name}' must not be empty");
            self.report(Violation::new(join(field, name), message));
        }
        Some(text)
    }

    pub(crate) fn required<'v>(
        &mut self,
        members: &'v Object,
        field: &str,
        name: &str,
    ) -> Option<&'v Value> {
        let value = members.get(name);
        if value.is_none() {
            let violation = Violation::new(join(field, name), format!("'{name}' is missing"));
            self.report(violation.expecting("present", "undefined"));
        }
        value
    }

    pub(crate) fn flag(&mut self, members: &Object, field: &str, name: &str) -> Option<bool> {
        let value = members.get(name)?;
        let flag = value.as_bool();
        if flag.is_none() {
            self.wrong(&join(field, name), "a boolean", value);
        }
        flag
    }

    /// A whole number from zero.
    pub(crate) fn count(&mut self, members: &Object, field: &str, name: &str) -> Option<u64> {
        let value = members.get(name)?;
        let count = count_of(value);
        if count.is_none() {
            self.wrong(&join(field, name), "a whole number from zero", value);
        }
        count
    }

    pub(crate) fn one_of<N: Names>(
        &mut self,
        members: &Object,
        field: &str,
        name: &str,
    ) -> Option<N> {
        let value = members.get(name)?;
        let found = value.as_str().and_then(N::find);
        if found.is_none() {
            let names: Vec<_> = N::ALL.iter().map(|name| name.as_str()).collect();
            self.wrong(&join(field, name), &format!("one of {}", names.join(", ")), value);
        }
        found
    }

    /// A JSON Schema. Its content is checked when it is compiled.
    pub(crate) fn schema(&mut self, value: &Value, field: &str) -> Option<Value> {
        if !value.is_object() {
            self.wrong(field, "a JSON Schema", value);
            return None;
        }
        Some(value.clone())
    }

    /// The schema of an entry that must have one.
    pub(crate) fn own_schema(&mut self, members: &Object, field: &str) -> Option<Value> {
        let place = join(field, "schema");
        if let Some(value) = members.get("schema") {
            return self.schema(value, &place);
        }
        let message = "'schema' is missing: an entry has its JSON Schema in a member of this name";
        self.report(Violation::new(place, message).expecting("a JSON Schema", "undefined"));
        None
    }
}

pub(crate) fn join(field: &str, name: &str) -> String {
    let dot = if field.is_empty() { "" } else { "." };
    format!("{field}{dot}{}", shorten(name))
}
