//! Recognises a turn result among other JSON. Acceptance validates it.

use accord_contract::{Object, Value};

pub(super) fn is_one(document: &Object) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| document.contains_key(*name));
    has(&["schema_version"])
        && has(&["run_id", "turn_id"])
        && has(&["status", "role", "runtime_id"])
}

/// The turn result in the answer of a tool: its structured content, or the text of a block.
pub(super) fn in_tool_answer(answer: &Object) -> Option<Object> {
    let structured = answer.get("structuredContent").and_then(Value::as_object);
    if let Some(document) = structured.filter(|document| is_one(document)) {
        return Some(document.clone());
    }
    texts(answer).find_map(|text| match accord_canon::read(text.as_bytes()) {
        Ok(Value::Object(document)) if is_one(&document) => Some(document),
        _ => None,
    })
}

pub(super) fn texts(answer: &Object) -> impl Iterator<Item = &str> {
    let blocks = answer.get("content").and_then(Value::as_array);
    let blocks = blocks.into_iter().flatten();
    let texts = blocks.filter(|block| block.get("type").and_then(Value::as_str) == Some("text"));
    texts.filter_map(|block| block.get("text")?.as_str())
}

#[cfg(test)]
mod tests {
    use accord_contract::{Object, Value};
    use serde_json::json;

    use super::in_tool_answer;

    fn object(value: Value) -> Object {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_result_is_found_wherever_it_stands() {
        let result = json!({"schema_version": "1.0", "turn_id": "turn_1", "status": "completed"});
        let structured = object(json!({"structuredContent": result, "content": []}));
        assert_eq!(in_tool_answer(&structured), Some(object(result.clone())));
        let text = object(json!({"content": [
            {"type": "text", "text": "thinking"},
            {"type": "image", "text": result.to_string()},
            {"type": "text", "text": result.to_string()},
        ]}));
        assert_eq!(in_tool_answer(&text), Some(object(result)));
    }

    #[test]
    fn other_json_is_no_result() {
        let other = json!({"turn_id": "turn_1", "status": "completed"});
        let answer = object(json!({"structuredContent": other, "content": [
            {"type": "text", "text": other.to_string()},
        ]}));
        assert_eq!(in_tool_answer(&answer), None);
    }
}
