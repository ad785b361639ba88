//! What must be true of a sequence of documents: the lines of files, or the frames of a socket.

use accord_contract::Value;
use accord_contract::fixture::Vocabulary;
use serde_json::json;

use crate::case::{FrameCheck, LineCheck, LineCount};
use crate::exchange::variables::{Unknown, Variables};
use crate::report::Difference;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines<'a> {
    order: &'a [Value],
    some: &'a [Value],
    none: &'a [Value],
    times: &'a [LineCount],
}

impl<'a> From<&'a LineCheck> for Lines<'a> {
    fn from(check: &'a LineCheck) -> Self {
        Self {
            order: check.order.as_deref().unwrap_or_default(),
            some: check.some.as_deref().unwrap_or_default(),
            none: check.none.as_deref().unwrap_or_default(),
            times: check.times.as_deref().unwrap_or_default(),
        }
    }
}

impl<'a> From<&'a FrameCheck> for Lines<'a> {
    fn from(check: &'a FrameCheck) -> Self {
        Self {
            order: check.order.as_deref().unwrap_or_default(),
            some: check.some.as_deref().unwrap_or_default(),
            none: check.none.as_deref().unwrap_or_default(),
            times: check.times.as_deref().unwrap_or_default(),
        }
    }
}

impl Lines<'_> {
    /// Where a sequence differs from what is expected.
    pub(crate) fn judge(
        self,
        lines: &[Value],
        at: &str,
        variables: &Variables,
    ) -> Result<Vec<Difference>, Unknown> {
        let shown = || Value::Array(lines.to_vec());
        let mut differences = Vec::new();
        let mut from = 0;
        for expected in self.order {
            let expected = variables.value(expected)?;
            match lines[from..].iter().position(|line| fits(&expected, line)) {
                Some(place) => from += place + 1,
                None => {
                    let expected = json!({"line": expected, "after": from});
                    differences.push(Difference::new(at, expected, shown()));
                    break;
                }
            }
        }
        for expected in self.some {
            let expected = variables.value(expected)?;
            if !lines.iter().any(|line| fits(&expected, line)) {
                differences.push(Difference::new(at, json!({"line": expected}), shown()));
            }
        }
        for expected in self.none {
            let expected = variables.value(expected)?;
            if let Some(line) = lines.iter().find(|line| fits(&expected, line)) {
                let expected = json!({"no line": expected});
                differences.push(Difference::new(at, expected, line.clone()));
            }
        }
        for count in self.times {
            let expected = variables.value(&count.line)?;
            let times = lines.iter().filter(|line| fits(&expected, line)).count() as u64;
            if times != count.times {
                let expected = json!({"line": expected, "times": count.times});
                differences.push(Difference::new(at, expected, times));
            }
        }
        Ok(differences)
    }
}

/// Whether a document matches an expectation.
pub(crate) fn fits(expected: &Value, actual: &Value) -> bool {
    Vocabulary::Kit.differences(expected, actual).is_empty()
}
