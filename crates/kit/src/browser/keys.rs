//! The keys of a keyboard, as the debugging protocol names them.

use serde_json::{Value, json};

/// The events of pressing and releasing a key, after modifiers joined by `+`, if it is known.
pub(super) fn events(name: &str) -> Option<(Value, Value)> {
    let (modifiers, name) = modifiers(name);
    let key = Key::of(name)?;
    let mut down = json!({"type": "keyDown", "key": key.key, "code": key.code,
        "windowsVirtualKeyCode": key.number, "modifiers": modifiers});
    if let Some(text) = key.text {
        down["text"] = text.into();
    } else {
        down["type"] = "rawKeyDown".into();
    }
    let up = json!({"type": "keyUp", "key": key.key, "code": key.code,
        "windowsVirtualKeyCode": key.number, "modifiers": modifiers});
    Some((down, up))
}

/// The bits of the modifiers in front of a key's name, and the name.
fn modifiers(mut name: &str) -> (u8, &str) {
    let mut bits = 0;
    while let Some((word, rest)) = name.split_once('+').filter(|(_, rest)| !rest.is_empty()) {
        bits |= match word {
            "Alt" => 1,
            "Control" => 2,
            "Meta" => 4,
            "Shift" => 8,
            _ => break,
        };
        name = rest;
    }
    (bits, name)
}

struct Key {
    key: String,
    code: String,
    number: u32,
    text: Option<String>,
}

impl Key {
    fn of(name: &str) -> Option<Self> {
        let mut named = NAMED.iter();
        if let Some((_, number, text)) = named.find(|(listed, ..)| *listed == name) {
            let key = if name == "Space" { " " } else { name };
            return Some(Self {
                key: key.to_owned(),
                code: name.to_owned(),
                number: *number,
                text: text.map(str::to_owned),
            });
        }
        let mut characters = name.chars();
        let character = characters.next().filter(char::is_ascii)?;
        if characters.next().is_some() {
            return None;
        }
        if character == ' ' {
            return Self::of("Space");
        }
        if character == '\n' {
            return Self::of("Enter");
        }
        let upper = character.to_ascii_uppercase();
        let code = match upper {
            'A'..='Z' => format!("Key{upper}"),
            '0'..='9' => format!("Digit{upper}"),
            // Signs are on different keys of different keyboards.
            _ => String::new(),
        };
        let number = if code.is_empty() { 0 } else { upper.into() };
        let text = character.to_string();
        character.is_ascii_graphic().then(|| Self {
            key: text.clone(),
            code,
            number,
            text: Some(text),
        })
    }
}

/// The name of a key that is no character, its number, and the text that it types.
const NAMED: &[(&str, u32, Option<&str>)] = &[
    ("Backspace", 8, None),
    ("Tab", 9, None),
    ("Enter", 13, Some("\r")),
    ("Escape", 27, None),
    ("Space", 32, Some(" ")),
    ("PageUp", 33, None),
    ("PageDown", 34, None),
    ("End", 35, None),
    ("Home", 36, None),
    ("ArrowLeft", 37, None),
    ("ArrowUp", 38, None),
    ("ArrowRight", 39, None),
    ("ArrowDown", 40, None),
    ("Delete", 46, None),
];

#[cfg(test)]
mod tests {
    use super::events;

    #[test]
    fn keys_have_their_modifiers_and_texts() {
        let (down, up) = events("Shift+Tab").unwrap();
        assert_eq!(down["type"], "rawKeyDown");
        assert_eq!((&down["key"], &down["modifiers"]), (&"Tab".into(), &8.into()));
        assert_eq!(up["type"], "keyUp");
        let (down, _) = events("a").unwrap();
        assert_eq!((&down["text"], &down["code"]), (&"a".into(), &"KeyA".into()));
        let (down, _) = events("+").unwrap();
        assert_eq!(down["text"], "+");
        assert!(events("Nonsense").is_none());
        assert!(events("é").is_none());
    }
}
