//! Places in a document: JSON pointers in which `*` is every element of a list.

use accord_contract::Value;

use super::compose::unescaped;

#[derive(Debug)]
pub(super) struct Located<'a> {
    /// The place as a plain JSON pointer.
    pub(super) pointer: String,
    pub(super) value: &'a Value,
}

/// Every place that matches a pattern. A pattern without `*` matches at most one.
pub(super) fn places<'a>(document: &'a Value, pattern: &str) -> Vec<Located<'a>> {
    let mut found = vec![Located { pointer: String::new(), value: document }];
    for token in pattern.split('/').skip(1) {
        found = found.into_iter().flat_map(|place| children(&place, token)).collect();
    }
    found
}

fn children<'a>(place: &Located<'a>, token: &str) -> Vec<Located<'a>> {
    let at = |token: &str, value: &'a Value| Located {
        pointer: format!("{}/{token}", place.pointer),
        value,
    };
    match place.value {
        Value::Array(items) if token == "*" => {
            items.iter().enumerate().map(|(index, item)| at(&index.to_string(), item)).collect()
        }
        Value::Array(items) => {
            let index: Option<usize> = token.parse().ok();
            let item = index.and_then(|index| items.get(index));
            item.map(|item| at(token, item)).into_iter().collect()
        }
        Value::Object(members) => {
            let member = members.get(&unescaped(token));
            member.map(|member| at(token, member)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::places;

    #[test]
    fn a_star_means_every_element() {
        let document = json!({"l": [{"a": 1}, {"b": 2}, {"a": 3}], "x/y": {"*": 4}});
        let found = |pattern: &str| -> Vec<(String, String)> {
            places(&document, pattern)
                .into_iter()
                .map(|place| (place.pointer, place.value.to_string()))
                .collect()
        };
        let pair = |pointer: &str, value: &str| (pointer.to_owned(), value.to_owned());
        assert_eq!(found("/l/*/a"), [pair("/l/0/a", "1"), pair("/l/2/a", "3")]);
        assert_eq!(found("/l/1/b"), [pair("/l/1/b", "2")]);
        assert_eq!(found("/x~1y/*"), [pair("/x~1y/*", "4")]);
        assert_eq!(found("/l/9"), []);
        assert_eq!(found("/none/*"), []);
        assert_eq!(found("").len(), 1);
    }
}
