//! The parameters of a request: names and texts, each name once.

use accord_base::refuse;
use accord_contract::Failure;

/// The parameters of a request.
#[derive(Clone, Debug, Default)]
pub struct Params<'a> {
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Params<'a> {
    /// The parameters in these pairs. Unknown names are ignored.
    pub fn new(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Failure> {
        let pairs: Vec<_> = pairs.into_iter().collect();
        for (index, (name, _)) in pairs.iter().enumerate() {
            if pairs[..index].iter().any(|(earlier, _)| earlier == name) {
                return Err(wrong(name, "is given twice; give it once"));
            }
        }
        Ok(Self { pairs })
    }

    /// The text of a parameter, if it is given.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let mut pairs = self.pairs.iter();
        pairs.find(|(given, _)| *given == name).map(|(_, text)| *text)
    }

    /// A parsed value, if the parameter is given.
    pub fn parsed<T>(
        &self,
        name: &str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let refused = || wrong(name, &format!("must be {expected}"));
        self.text(name).map(|text| parse(text).ok_or_else(refused)).transpose()
    }
}

/// A parameter with a wrong value.
pub fn wrong(name: &str, problem: &str) -> Failure {
    refuse::schema(format!("/{name}"), format!("the parameter {name} {problem}"))
}

/// The names of a list, for a message.
pub(super) fn one_of(names: impl IntoIterator<Item = &'static str>) -> String {
    let names: Vec<_> = names.into_iter().collect();
    format!("one of {}", names.join(", "))
}
