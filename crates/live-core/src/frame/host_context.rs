//! What a client knows about its host: a fixed list of members, stored exactly as it was sent.

use accord_contract::wire::{DecodeError, Form, Pointer, Shape};
use accord_contract::{Object, Value, Wire, rule};

/// A host context. It has known members of the right types and no others.
///
/// Clauses: GGUI-HOST-CONTEXT-PROJECTION.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HostContext(Object);

const DISPLAY_MODES: &[&str] = &["inline", "fullscreen", "pip"];
const PLATFORMS: &[&str] = &["web", "desktop", "mobile"];
const DIMENSIONS: &[&str] = &["width", "maxWidth", "height", "maxHeight"];
const CAPABILITIES: &[&str] = &["touch", "hover"];

impl HostContext {
    pub fn members(&self) -> &Object {
        &self.0
    }

    pub fn into_members(self) -> Object {
        self.0
    }
}

impl Wire for HostContext {
    fn shape() -> Shape {
        Shape::Map(Box::new(Shape::Any))
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        let members = Object::decode(value, at)?;
        for (name, value) in &members {
            let at = at.member(name);
            match name.as_str() {
                "availableDisplayModes" => match value {
                    Value::Array(modes) => {
                        (modes.iter().enumerate()).try_for_each(|(index, mode)| {
                            one_of(DISPLAY_MODES, mode, &at.index(index))
                        })?;
                    }
                    other => return Err(DecodeError::wrong_type(&at, &list(), other)),
                },
                "currentDisplayMode" => one_of(DISPLAY_MODES, value, &at)?,
                "platform" => one_of(PLATFORMS, value, &at)?,
                "containerDimensions" => each(value, &at, DIMENSIONS, Value::is_number)?,
                "deviceCapabilities" => each(value, &at, CAPABILITIES, Value::is_boolean)?,
                "locale" | "timeZone" => match value {
                    Value::String(text) if !text.is_empty() => {}
                    other => return Err(DecodeError::wrong_value(&at, &Shape::Text, other)),
                },
                _ if rule!(false; HostContextOpen => true) => {}
                _ => return Err(DecodeError::unknown(&at, value)),
            }
        }
        Ok(Self(members))
    }

    fn write(&self, _: Form) -> Value {
        Value::Object(self.0.clone())
    }
}

fn list() -> Shape {
    Shape::List { item: Box::new(Shape::Text), least: 0, most: None }
}

fn one_of(names: &[&str], value: &Value, at: &Pointer<'_>) -> Result<(), DecodeError> {
    match value {
        Value::String(text) if names.contains(&text.as_str()) => Ok(()),
        other => {
            let mut refused = DecodeError::wrong_value(at, &Shape::Text, other);
            refused.expected = format!("one of {names:?}");
            Err(refused)
        }
    }
}

/// An object with some of these members, each of which fits.
fn each(
    value: &Value,
    at: &Pointer<'_>,
    names: &[&str],
    fits: impl Fn(&Value) -> bool,
) -> Result<(), DecodeError> {
    let Value::Object(members) = value else {
        return Err(DecodeError::wrong_type(at, &HostContext::shape(), value));
    };
    for (name, value) in members {
        let at = at.member(name);
        if !names.contains(&name.as_str()) {
            return Err(DecodeError::unknown(&at, value));
        }
        if !fits(value) {
            return Err(DecodeError::wrong_value(&at, &Shape::Any, value));
        }
    }
    Ok(())
}
