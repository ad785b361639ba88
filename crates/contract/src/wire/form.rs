//! What a text must be like, and what limits a member has beyond its type. A limit is stated once:
//! the reader checks it, and the JSON Schema describes it. Only `pattern` and `format` are for the
//! description alone; a test compares them with the parser of the type.

use super::{DecodeError, DecodeErrorKind, Decoded, Object, Pointer, Shape, Value};

/// What a text must be like.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub struct TextForm {
    least_chars: usize,
    most_chars: Option<usize>,
    most_bytes: Option<usize>,
    has_nul: bool,
    pattern: Option<&'static str>,
    format: Option<&'static str>,
    example: Option<&'static str>,
}

/// Why a text does not have a form.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FormError {
    /// It has too few characters.
    TooShort,
    /// It has too many characters.
    TooManyChars,
    /// It has too many bytes.
    TooManyBytes,
    /// It contains U+0000.
    Nul,
}

impl TextForm {
    /// Any text.
    pub const ANY: Self = Self {
        least_chars: 0,
        most_chars: None,
        most_bytes: None,
        has_nul: true,
        pattern: None,
        format: None,
        example: None,
    };

    /// Whether a text can be too long in bytes, which is a failure of its own.
    pub const fn limits_bytes(&self) -> bool {
        self.most_bytes.is_some()
    }

    /// A text of so many characters, counted as Unicode scalar values.
    pub const fn chars(mut self, least: usize, most: usize) -> Self {
        self.least_chars = least;
        self.most_chars = Some(most);
        self
    }

    /// A text that is not empty.
    pub const fn not_empty(mut self) -> Self {
        self.least_chars = 1;
        self
    }

    /// A text of at most so many bytes in UTF-8.
    pub const fn bytes(mut self, most: usize) -> Self {
        self.most_bytes = Some(most);
        self
    }

    /// A text without U+0000, which some engines cannot store.
    pub const fn without_nul(mut self) -> Self {
        self.has_nul = false;
        self
    }

    /// A text that matches a regular expression. Describes the text; the parser checks it.
    pub const fn pattern(mut self, pattern: &'static str) -> Self {
        self.pattern = Some(pattern);
        self
    }

    /// A text of a format that JSON Schema names. Describes the text; the parser checks it.
    pub const fn format(mut self, format: &'static str) -> Self {
        self.format = Some(format);
        self
    }

    /// Such a text, as an example.
    pub const fn example(mut self, example: &'static str) -> Self {
        self.example = Some(example);
        self
    }

    /// Checks lengths and characters.
    pub fn check(&self, text: &str) -> Result<(), FormError> {
        // A character has at least one byte, so most texts need no counting.
        let past = |most: usize| text.len() > most && text.chars().nth(most).is_some();
        if self.least_chars > 0 && text.chars().nth(self.least_chars - 1).is_none() {
            Err(FormError::TooShort)
        } else if self.most_chars.is_some_and(past) {
            Err(FormError::TooManyChars)
        } else if self.most_bytes.is_some_and(|most| text.len() > most) {
            Err(FormError::TooManyBytes)
        } else if !self.has_nul && text.contains('\0') {
            Err(FormError::Nul)
        } else {
            Ok(())
        }
    }

    /// The most bytes, if they are limited.
    pub fn most_bytes(&self) -> Option<usize> {
        self.most_bytes
    }

    /// The form as a noun for an error message.
    pub fn in_words(&self) -> String {
        let mut words = match (self.least_chars, self.most_chars) {
            (0, None) => "a text".to_owned(),
            (0, Some(most)) => format!("a text of at most {most} characters"),
            (1, None) => "a text that is not empty".to_owned(),
            (least, None) => format!("a text of at least {least} characters"),
            (least, Some(most)) => format!("a text of {least} to {most} characters"),
        };
        if let Some(most) = self.most_bytes {
            words.push_str(&format!(", of at most {most} bytes"));
        }
        if !self.has_nul {
            words.push_str(", without U+0000");
        }
        if let Some(example) = self.example {
            words.push_str(&format!(", such as {example}"));
        }
        words
    }

    /// The keywords of JSON Schema. A limit in bytes is also one in characters.
    pub(super) fn describe(&self, schema: &mut Object) {
        if self.least_chars > 0 {
            schema.insert("minLength".into(), self.least_chars.into());
        }
        if let Some(most) = self.most_chars.or(self.most_bytes) {
            schema.insert("maxLength".into(), most.into());
        }
        let pattern = self.pattern.or((!self.has_nul).then_some(NO_NUL));
        for (keyword, value) in [("pattern", pattern), ("format", self.format)] {
            if let Some(value) = value {
                schema.insert(keyword.into(), value.into());
            }
        }
        if let Some(example) = self.example {
            schema.insert("examples".into(), Value::from(vec![example]));
        }
    }
}

const NO_NUL: &str = r"^[^\u0000]*$";

/// The limits of a member beyond those of its type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    text: Option<TextForm>,
    least_items: usize,
    most_items: Option<usize>,
    range: Option<(i64, i64)>,
    is_read_only: bool,
}

impl Limits {
    /// No limits.
    pub const NONE: Self =
        Self { text: None, least_items: 0, most_items: None, range: None, is_read_only: false };

    /// A text of this form.
    pub const fn text(form: TextForm) -> Self {
        Self { text: Some(form), ..Self::NONE }
    }

    /// A list of at most so many items.
    pub const fn items(most: usize) -> Self {
        Self { most_items: Some(most), ..Self::NONE }
    }

    /// A list with at least one item.
    pub const fn not_empty() -> Self {
        Self { least_items: 1, ..Self::NONE }
    }

    /// A list of at most so many texts of this form.
    pub const fn texts(most: usize, form: TextForm) -> Self {
        Self { text: Some(form), most_items: Some(most), ..Self::NONE }
    }

    /// A whole number from `least` to `most`.
    pub const fn whole(least: i64, most: i64) -> Self {
        Self { range: Some((least, most)), ..Self::NONE }
    }

    /// A member that the server sets. A client should leave it out, and may send the same value.
    pub const fn read_only() -> Self {
        Self { is_read_only: true, ..Self::NONE }
    }

    /// Whether the server sets the member.
    pub const fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// The shape with these limits.
    #[must_use]
    pub fn narrow(&self, shape: Shape) -> Shape {
        match (shape, self) {
            (Shape::Text, Self { text: Some(form), .. }) => Shape::Form(*form),
            (Shape::List { item, .. }, limits) => Shape::List {
                item: Box::new(limits.narrow(*item)),
                least: limits.least_items,
                most: limits.most_items,
            },
            (Shape::Integer { .. }, Self { range: Some((least, most)), .. }) => {
                Shape::Integer { minimum: Some(*least), maximum: Some(*most) }
            }
            (shape, _) => shape,
        }
    }

    /// Checks a value. A value of another JSON type is left to the reader of its type.
    pub fn check(&self, value: &Value, at: &Pointer<'_>) -> Result<(), DecodeError> {
        match (value, self) {
            (Value::String(text), Self { text: Some(form), .. }) => {
                form.check(text).map_err(|error| refused(error, form, text, at))
            }
            (Value::Array(items), limits) => {
                if let Some(most) = limits.most_items.filter(|most| items.len() > *most) {
                    let (expected, found) = (format!("at most {most} items"), items.len());
                    let found = format!("{found} items");
                    return Err(DecodeError::new(at, DecodeErrorKind::TooMany, expected, found));
                }
                if items.len() < limits.least_items {
                    let expected = format!("at least {} item", limits.least_items);
                    let found = "an empty list".into();
                    return Err(DecodeError::new(at, DecodeErrorKind::Value, expected, found));
                }
                let mut items = items.iter().enumerate();
                items.try_for_each(|(index, item)| limits.check(item, &at.index(index)))
            }
            (Value::Number(number), Self { range: Some((least, most)), .. }) => {
                let range = *least as f64..=*most as f64;
                if number.as_f64().is_some_and(|number| range.contains(&number)) {
                    return Ok(());
                }
                let shape = Shape::Integer { minimum: Some(*least), maximum: Some(*most) };
                Err(DecodeError::wrong_value(at, &shape, value))
            }
            _ => Ok(()),
        }
    }
}

/// Checks the limits of a member, if it is there.
#[doc(hidden)]
pub fn check_limits(
    members: &Object,
    name: &str,
    at: &Pointer<'_>,
    limits: &Limits,
) -> Decoded<()> {
    members.get(name).map_or(Ok(()), |value| limits.check(value, &at.member(name)))
}

fn refused(error: FormError, form: &TextForm, text: &str, at: &Pointer<'_>) -> DecodeError {
    if error != FormError::TooManyBytes {
        return DecodeError::wrong_value(at, &Shape::Form(*form), &text.into());
    }
    let expected = format!("at most {} bytes", form.most_bytes.unwrap_or_default());
    DecodeError::new(at, DecodeErrorKind::TooLong, expected, format!("{} bytes", text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_of_a_form_are_inclusive() {
        let form = TextForm::ANY.chars(1, 3).bytes(8).without_nul();
        for (text, expected) in [
            ("", Err(FormError::TooShort)),
            ("a", Ok(())),
            ("éé", Ok(())),
            ("日本", Ok(())),
            ("abc", Ok(())),
            ("abcd", Err(FormError::TooManyChars)),
            ("日本語", Err(FormError::TooManyBytes)),
            ("a\0", Err(FormError::Nul)),
        ] {
            assert_eq!(form.check(text), expected, "{text:?}");
        }
        assert_eq!(TextForm::ANY.check("\0"), Ok(()));
    }
}
