//! JSON Schema (draft 2020-12) from a shape. The schema accepts exactly the documents that the
//! reader accepts, except for integers past 64 bits, which a schema cannot express.

use serde_json::json;

use super::{FieldShape, MessageShape, Object, Shape, Value, Wire};

/// The JSON Schema of a wire value, with every message that it uses in `$defs`.
pub fn json_schema<T: Wire>() -> Value {
    let mut definitions = Object::new();
    let whole = schema(&T::shape(), &mut definitions);
    let mut document = json!({"$schema": "https://json-schema.org/draft/2020-12/schema"});
    if let (Value::Object(document), Value::Object(members)) = (&mut document, whole) {
        document.extend(members);
    }
    if !definitions.is_empty() {
        document["$defs"] = definitions.into();
    }
    document
}

/// The JSON Schema of a shape that contains no message, such as that of a parameter.
pub fn shape_schema(shape: &Shape) -> Value {
    schema(shape, &mut Object::new())
}

fn schema(shape: &Shape, definitions: &mut Object) -> Value {
    match shape {
        Shape::Any => json!({"description": "Any JSON value."}),
        Shape::Boolean => json!({"type": "boolean"}),
        Shape::Constant(value) => json!({"type": "boolean", "const": value}),
        Shape::Text => json!({"type": "string"}),
        Shape::Form(form) => {
            let mut schema = Object::new();
            schema.insert("type".into(), "string".into());
            form.describe(&mut schema);
            Value::Object(schema)
        }
        Shape::Integer { minimum, maximum } => {
            let mut schema = json!({"type": "integer"});
            for (keyword, bound) in [("minimum", minimum), ("maximum", maximum)] {
                if let Some(bound) = bound {
                    schema[keyword] = json!(bound);
                }
            }
            schema
        }
        Shape::Number { range: None } => json!({"type": "number"}),
        Shape::Number { range: Some((least, most)) } => {
            json!({"type": "number", "minimum": least, "maximum": most})
        }
        Shape::List { item, least, most } => {
            let mut list = json!({"type": "array", "items": schema(item, definitions)});
            if *least > 0 {
                list["minItems"] = json!(least);
            }
            if let Some(most) = most {
                list["maxItems"] = json!(most);
            }
            list
        }
        Shape::Map(of) => {
            json!({"type": "object", "additionalProperties": schema(of, definitions)})
        }
        // `enum` would refuse the names of a later version.
        Shape::Enum(names) if names.open => json!({"type": "string", "examples": names.members}),
        Shape::Enum(names) => match names.members.as_slice() {
            [only] => json!({"type": "string", "const": only}),
            members => json!({"type": "string", "enum": members}),
        },
        Shape::Either(shapes) => {
            let options: Vec<_> = shapes.iter().map(|each| schema(each, definitions)).collect();
            json!({"anyOf": options})
        }
        Shape::Message(message) => {
            if !definitions.contains_key(message.name) {
                // Reserved before the members are visited: a message may contain itself.
                definitions.insert(message.name.into(), Value::Null);
                let definition = definition(message, definitions);
                definitions.insert(message.name.into(), definition);
            }
            json!({"$ref": format!("#/$defs/{}", message.name)})
        }
    }
}

fn definition(message: &MessageShape, definitions: &mut Object) -> Value {
    let fields = (message.fields)();
    let required = fields.iter().filter(|field| field.presence.required);
    let required: Vec<_> = required.map(|field| field.name).collect();
    let mut properties = Object::new();
    for field in &fields {
        properties.insert(field.name.into(), member(field, definitions));
    }
    for alias in message.aliases {
        // No type: an alias must never make a reader refuse a document.
        let about = format!("Alias of {}; written for convenience, never read.", alias.mirrors);
        properties.insert(alias.name.into(), json!({"description": about}));
    }
    for field in (message.beside)() {
        properties.insert(field.name.into(), member(&field, definitions));
    }
    let mut definition = json!({"title": message.name});
    if !message.about.is_empty() {
        definition["description"] = json!(message.about);
    }
    definition["type"] = "object".into();
    if !required.is_empty() {
        definition["required"] = json!(required);
    }
    definition["properties"] = Value::Object(properties);
    definition["additionalProperties"] = match message.open {
        true => json!({"description": "A member that this version does not name; it is kept."}),
        false => false.into(),
    };
    definition
}

fn member(field: &FieldShape, definitions: &mut Object) -> Value {
    let presence = field.presence;
    let mut schema = match (schema(&field.shape, definitions), &field.shape) {
        // Any value includes null, which only a required or nullable member may be.
        (_, Shape::Any) if !presence.required && !presence.nullable => {
            json!({"not": {"type": "null"}})
        }
        (any, Shape::Any) => any,
        (schema, _) if presence.nullable => json!({"anyOf": [schema, {"type": "null"}]}),
        (schema, _) => schema,
    };
    let about = description(field);
    if let (Value::Object(members), false) = (&mut schema, about.is_empty()) {
        members.insert("description".into(), about.into());
    }
    if field.is_read_only {
        schema["readOnly"] = true.into();
    }
    schema
}

/// What a member is, with the limits that no keyword of JSON Schema expresses.
fn description(field: &FieldShape) -> String {
    let (shape, each) = match &field.shape {
        Shape::List { item, .. } => (&**item, " each"),
        shape => (shape, ""),
    };
    let about = field.about.clone();
    match shape {
        Shape::Form(form) => form
            .most_bytes()
            .map_or(about, |most| format!("{} At most {most} bytes{each} in UTF-8.", field.about)),
        _ => about,
    }
}
