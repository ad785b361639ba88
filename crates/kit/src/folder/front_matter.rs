//! The front matter of a text file: YAML 1.2, core schema (times are strings), between two `---`.

use accord_contract::{Object, Value};
use granit_parser::{BorrowedInput, Event, Parser, ScalarStyle};

pub(super) fn read(text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    if lines.next().map(str::trim_end) != Some("---") {
        return Err("the first line is not ---".to_owned());
    }
    let mut yaml = String::new();
    loop {
        match lines.next() {
            None => return Err("the front matter has no second line ---".to_owned()),
            Some(line) if line.trim_end() == "---" => return document(&yaml),
            Some(line) => yaml.push_str(line),
        }
    }
}

fn document(yaml: &str) -> Result<Value, String> {
    let mut reader = Reader { events: Parser::new_from_str(yaml), anchors: Vec::new(), nodes: 0 };
    let mut value = Value::Null;
    loop {
        match reader.next()? {
            Event::StreamEnd => return Ok(value),
            Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
            event => value = reader.node(event)?,
        }
    }
}

struct Reader<'t, I: BorrowedInput<'t>> {
    events: Parser<'t, I>,
    anchors: Vec<(usize, Value)>,
    nodes: usize,
}

impl<'t, I: BorrowedInput<'t>> Reader<'t, I> {
    fn next(&mut self) -> Result<Event<'t>, String> {
        loop {
            match self.events.next() {
                None => return Ok(Event::StreamEnd),
                Some(Ok((Event::Comment(..), _))) => {}
                Some(Ok((event, _))) => return Ok(event),
                Some(Err(error)) => return Err(error.to_string()),
            }
        }
    }

    fn node(&mut self, event: Event<'t>) -> Result<Value, String> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err("there are too many values".to_owned());
        }
        let (value, anchor) = match event {
            Event::Scalar(text, ScalarStyle::Plain, anchor, None) => (plain(&text), anchor),
            Event::Scalar(text, _, anchor, _) => (text.into_owned().into(), anchor),
            Event::SequenceStart(_, anchor, _) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => break (Value::Array(items), anchor),
                        event => items.push(self.node(event)?),
                    }
                }
            }
            Event::MappingStart(_, anchor, _) => {
                let mut members = Object::new();
                loop {
                    let key = match self.next()? {
                        Event::MappingEnd => break (Value::Object(members), anchor),
                        Event::Scalar(text, ..) => text.into_owned(),
                        _ => return Err("a key is not a scalar".to_owned()),
                    };
                    let event = self.next()?;
                    let value = self.node(event)?;
                    if members.insert(key.clone(), value).is_some() {
                        return Err(format!("the key {key} appears twice"));
                    }
                }
            }
            Event::Alias(id) => {
                let known = self.anchors.iter().find(|(anchor, _)| *anchor == id);
                (known.map(|(_, value)| value.clone()).ok_or("an alias names itself")?, 0)
            }
            _ => return Err("the text ends too early".to_owned()),
        };
        if anchor != 0 {
            self.anchors.push((anchor, value.clone()));
        }
        Ok(value)
    }
}

/// A plain scalar, as the core schema reads it.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return true.into(),
        "false" | "False" | "FALSE" => return false.into(),
        _ => {}
    }
    let radix = |prefix: &str, radix: u32| {
        text.strip_prefix(prefix).and_then(|digits| u64::from_str_radix(digits, radix).ok())
    };
    if let Some(number) = radix("0o", 8).or_else(|| radix("0x", 16)) {
        return number.into();
    }
    if let Ok(number) = text.strip_prefix('+').unwrap_or(text).parse::<i64>() {
        return number.into();
    }
    // Rust also reads names such as `inf`, which are texts here.
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match text.parse::<f64>() {
        Ok(number) if is_number => number.into(),
        _ => text.into(),
    }
}

/// Far more than a front matter has. Aliases could otherwise make a small text large.
const MOST_NODES: usize = 100_000;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::read;

    #[test]
    fn scalars_have_the_types_of_the_core_schema() {
        let text = "---\na: 1\nb: '1'\nc: 2026-02-09T21:00:00.000Z\nd: [x, null, ~]\n\
                    e: {f: true, g: 1e3}\nh: |\n  one\n  two\ni: 0x10\nj: inf\nk: &a [1]\nl: *a\n\
                    m: folded\n  text\n---\n\nbody --- \n---\n";
        assert_eq!(
            read(text).unwrap(),
            json!({
                "a": 1, "b": "1", "c": "2026-02-09T21:00:00.000Z", "d": ["x", null, null],
                "e": {"f": true, "g": 1000.0}, "h": "one\ntwo\n", "i": 16, "j": "inf",
                "k": [1], "l": [1], "m": "folded text",
            })
        );
    }

    #[test]
    fn a_text_without_a_front_matter_is_refused() {
        for text in ["", "a: 1\n", "---\na: 1\n", "---\na: 1\na: 2\n---\n", "---\na: [\n---\n"] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }
}
