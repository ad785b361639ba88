//! Updates of props.

use accord_contract::{Code, Object, Value, rule, wire::same};

use crate::violation::{Violation, listed, type_name};

#[derive(Clone, Debug, PartialEq)]
pub enum PropsUpdate {
    Replace(Object),
    /// The patch is merged into them (RFC 7396).
    Merge(Object),
}

impl PropsUpdate {
    /// Reads `kind`, `props` and `patch` of an update. The error is what is missing, or does not
    /// belong to the kind.
    ///
    /// Clauses: GGUI-UPDATE-KINDS.
    pub fn read(request: &Object) -> Result<Self, Vec<Violation>> {
        let kind = request.get("kind").and_then(Value::as_str);
        let (own, other, missing) = match kind {
            Some("replace") => ("props", "patch", Code::GguiCtrUpdateMissingProps),
            Some("merge") => ("patch", "props", Code::GguiCtrUpdateMissingPatch),
            _ => {
                let received = request.get("kind").map_or("undefined", type_name);
                let violation = Violation::new("kind", "must be 'replace' or 'merge'");
                return Err(vec![violation.expecting(listed(["replace", "merge"]), received)]);
            }
        };
        if rule!(request.contains_key(other); MixedFieldsTaken => false) {
            let message = format!("an update of this kind has '{own}' and no '{other}'");
            let violation = Violation::new(other, message);
            return Err(vec![violation.of_code(Code::GguiCtrUpdateMixedFields)]);
        }
        match request.get(own) {
            Some(Value::Object(members)) if own == "props" => Ok(Self::Replace(members.clone())),
            Some(Value::Object(members)) => Ok(Self::Merge(members.clone())),
            Some(value) => {
                let violation = Violation::new(own, format!("'{own}' must be an object"));
                Err(vec![violation.expecting("object", type_name(value))])
            }
            None => {
                let message = format!("an update of this kind needs '{own}'");
                let violation = Violation::new(own, message).expecting("object", "undefined");
                Err(vec![violation.of_code(missing)])
            }
        }
    }

    /// The props after the update; none if they would be the same.
    ///
    /// Clauses: GGUI-UPDATE-MERGE, GGUI-UPDATE-UNCHANGED.
    pub fn apply(&self, current: &Object) -> Option<Object> {
        let current = Value::Object(current.clone());
        let next = match self {
            Self::Replace(props) => Value::Object(props.clone()),
            Self::Merge(patch) => merge_patch(&current, &Value::Object(patch.clone())),
        };
        match next {
            Value::Object(props) => {
                let is_changed = !same(&Value::Object(props.clone()), &current);
                rule!(is_changed; UnchangedIsChange => true).then_some(props)
            }
            _ => None,
        }
    }
}

/// Merges a patch into a value, as RFC 7396 defines it: a member that is `null` in the patch is
/// removed, objects are merged, everything else replaces.
pub fn merge_patch(target: &Value, patch: &Value) -> Value {
    let Value::Object(changes) = patch else { return patch.clone() };
    let mut merged = target.as_object().cloned().unwrap_or_default();
    for (name, change) in changes {
        if rule!(change.is_null(); NullsKept => false) {
            merged.shift_remove(name);
        } else {
            let value = merge_patch(merged.get(name).unwrap_or(&Value::Null), change);
            merged.insert(name.clone(), value);
        }
    }
    Value::Object(merged)
}
