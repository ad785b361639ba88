//! Server-sent events, as far as a case needs them.

use accord_contract::Value;
use serde_json::json;

/// The complete events of a stream, in order. Data that is JSON is parsed.
pub(crate) fn read(text: &str) -> Vec<Value> {
    let mut events = Vec::new();
    let (mut id, mut name, mut data) = (Value::Null, Value::Null, None::<String>);
    // The text after the last line break is not a line yet, and must not end an event.
    let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    for line in lines.map(|line| line.trim_end_matches('\r')) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            // A comment begins with a colon. Its field name is empty, too, but it ends no event.
            "" if line.is_empty() => {
                if let Some(text) = data.take() {
                    let data = serde_json::from_str(&text).unwrap_or(Value::String(text));
                    events.push(json!({"id": id, "event": name, "data": data}));
                }
                (id, name) = (Value::Null, Value::Null);
            }
            "id" => id = value.into(),
            "event" => name = value.into(),
            "data" => match &mut data {
                Some(text) => {
                    text.push('\n');
                    text.push_str(value);
                }
                None => data = Some(value.to_owned()),
            },
            _ => {}
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::read;

    /// Fuzz target for server-sent events.
    #[test]
    fn any_stream_is_read_without_a_panic() {
        const PIECES: [&str; 12] = [
            "data:",
            "data: {\"x\":1}",
            "event: a",
            "id: 1",
            ":",
            "\n",
            "\r\n",
            "\n\n",
            "retry: 5",
            "é",
            " ",
            "\r",
        ];
        bolero::check!().with_iterations(1_000).for_each(|input: &[u8]| {
            let text = accord_contract::testing::assemble(&PIECES, input);
            for text in [&*String::from_utf8_lossy(input), &text] {
                let events = read(text);
                // Everything after the last empty line is incomplete.
                assert_eq!(read(&format!("{text}data: cut")).len(), events.len());
                assert!(events.len() <= text.matches("data").count());
            }
        });
    }

    #[test]
    fn events_are_read_to_the_last_that_is_whole() {
        let text = ": hello\nid: 1\nevent: a\ndata: {\"x\":\ndata: 2}\n\nretry: 5\n\n\
                    id: 2\r\ndata:plain\r\n\r\nid: 3\ndata: half";
        assert_eq!(
            read(text),
            [
                json!({"id": "1", "event": "a", "data": {"x": 2}}),
                json!({"id": "2", "event": null, "data": "plain"}),
            ]
        );
    }

    #[test]
    fn one_line_break_at_the_end_completes_no_event() {
        assert_eq!(read("data: 1\n"), [] as [serde_json::Value; 0]);
        assert_eq!(read("data: 1\n\ndata: 2\n"), [json!({"id": null, "event": null, "data": 1})]);
        assert_eq!(read("data: 1\r\n\r\n").len(), 1);
    }
}
