//! Turns a step's request into an HTTP request.

use accord_contract::Value;
use accord_contract::text::percent_encoded;

use super::variables::{Unknown, Variables};
use crate::case::{Credential, Request};
use crate::corpus::{AnswerForm, Method, Requests, Route};

/// A request with everything filled in and encoded.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    /// Path and query below the server's base URL.
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) credential: Credential,
    pub(crate) body: Option<Body>,
    pub(crate) answer: AnswerForm,
    /// How many events to wait for, if the answer is an event stream.
    pub(crate) events: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) content_type: String,
    pub(crate) text: String,
}

/// Fills in a request. `Err` names a variable without a value, which a checked case does not have.
pub(crate) fn compose(
    request: &Request,
    routes: Requests<'_>,
    variables: &Variables,
) -> Result<Outgoing, Unknown> {
    let route = &routes.routes[&request.route];
    let headers = request.headers.iter().flatten();
    let headers = headers.map(|(name, text)| Ok((name.clone(), variables.text(text)?)));
    Ok(Outgoing {
        method: route.method,
        target: format!("{}{}", path(request, route, variables)?, query(request, variables)?),
        headers: headers.collect::<Result<_, Unknown>>()?,
        credential: request.credential.unwrap_or(Credential::Main),
        body: body(request, routes, variables)?,
        answer: route.answer(),
        events: request.events.unwrap_or(0),
    })
}

/// The JSON document of a request, before variables are filled in, if it has one.
pub(crate) fn document(request: &Request, routes: Requests<'_>) -> Option<Value> {
    if let Some(json) = &request.json {
        return Some(json.clone());
    }
    let template = routes.templates.get(request.template.as_ref()?)?;
    let mut document = Value::Object(template.clone());
    for (pointer, value) in request.set.iter().flatten() {
        put(&mut document, pointer, value.clone());
    }
    for pointer in request.remove.iter().flatten() {
        take(&mut document, pointer);
    }
    Some(document)
}

fn path(request: &Request, route: &Route, variables: &Variables) -> Result<String, Unknown> {
    let given = request.path.as_ref();
    let mut path = String::new();
    let mut rest = route.path.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        let (name, behind) = after.split_once('}').unwrap_or((after, ""));
        path.push_str(before);
        let value = match given.and_then(|given| given.get(name)) {
            Some(text) => variables.text(text)?,
            None => variables.text(&format!("${{{name}}}"))?,
        };
        path.extend(percent_encoded(&value));
        rest = behind;
    }
    path.push_str(rest);
    Ok(path)
}

fn query(request: &Request, variables: &Variables) -> Result<String, Unknown> {
    let mut query = String::new();
    for (name, text) in request.query.iter().flatten() {
        query.push(if query.is_empty() { '?' } else { '&' });
        query.extend(percent_encoded(name));
        query.push('=');
        query.extend(percent_encoded(&variables.text(text)?));
    }
    Ok(query)
}

fn body(
    request: &Request,
    routes: Requests<'_>,
    variables: &Variables,
) -> Result<Option<Body>, Unknown> {
    let text = match (&request.text, document(request, routes)) {
        (Some(text), _) => variables.text(text)?,
        (None, Some(document)) => variables.value(&document)?.to_string(),
        (None, None) => return Ok(None),
    };
    let content_type = request.content_type.as_deref().unwrap_or(JSON);
    Ok(Some(Body { content_type: content_type.to_owned(), text }))
}

/// Sets the value at a JSON pointer; its parents must exist.
fn put(document: &mut Value, pointer: &str, value: Value) {
    let Some((above, name)) = pointer.rsplit_once('/') else {
        *document = value;
        return;
    };
    match document.pointer_mut(above) {
        Some(Value::Object(members)) => {
            members.insert(unescaped(name), value);
        }
        Some(Value::Array(items)) => match name.parse::<usize>() {
            Ok(index) if index < items.len() => items[index] = value,
            _ => items.push(value),
        },
        _ => {}
    }
}

fn take(document: &mut Value, pointer: &str) {
    if let Some((above, name)) = pointer.rsplit_once('/')
        && let Some(Value::Object(members)) = document.pointer_mut(above)
    {
        // Not `swap_remove`: it would change the order of the members that stay.
        members.shift_remove(&unescaped(name));
    }
}

/// Decodes one segment of a JSON pointer.
pub(crate) fn unescaped(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

const JSON: &str = "application/json";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{put, take};

    #[test]
    fn templates_are_changed_where_pointers_say() {
        let mut document = json!({"a": {"b": 1}, "l": [1, 2], "x/y": 1});
        put(&mut document, "/a/c", json!(2));
        put(&mut document, "/l/1", json!(3));
        put(&mut document, "/l/-", json!(4));
        put(&mut document, "/x~1y", json!(5));
        take(&mut document, "/a/b");
        take(&mut document, "/none/b");
        assert_eq!(document, json!({"a": {"c": 2}, "l": [1, 3, 4], "x/y": 5}));
        put(&mut document, "", json!(7));
        assert_eq!(document, json!(7));
    }
}
