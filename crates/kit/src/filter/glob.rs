//! Patterns for ids: `*` is any text, slashes included, and `?` is one character.

/// A pattern that must match a whole text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Glob(Vec<char>);

impl Glob {
    pub(crate) fn new(pattern: &str) -> Self {
        Self(pattern.chars().collect())
    }

    /// The pattern as it was written.
    pub(crate) fn text(&self) -> String {
        self.0.iter().collect()
    }

    pub(crate) fn is_pattern(text: &str) -> bool {
        text.contains(['*', '?'])
    }

    /// Reads both texts once and backtracks only to the last star, so no pattern is slow.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let (mut at, mut here) = (0, 0);
        let mut last_star: Option<(usize, usize)> = None;
        while here < text.len() {
            match self.0.get(at) {
                Some('*') => {
                    last_star = Some((at, here));
                    at += 1;
                }
                Some(&wanted) if wanted == '?' || wanted == text[here] => {
                    at += 1;
                    here += 1;
                }
                _ => {
                    let Some((star, taken)) = last_star else { return false };
                    // Earlier stars never need another try: what they took can only grow.
                    last_star = Some((star, taken + 1));
                    at = star + 1;
                    here = taken + 1;
                }
            }
        }
        self.0[at..].iter().all(|left| *left == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::Glob;

    #[test]
    fn patterns_match_whole_texts() {
        for (pattern, text) in [
            ("alx/*", "alx/identity/plain"),
            ("*", ""),
            ("*plain", "alx/identity/plain"),
            ("a*b*c", "aXbYbZc"),
            ("ALX-C?", "ALX-C6"),
            ("plain", "plain"),
        ] {
            assert!(Glob::new(pattern).matches(text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("alx", "alx/identity"), ("ALX-C?", "ALX-C10"), ("a*b", "abc"), ("?", ""), ("", "a")]
        {
            assert!(!Glob::new(pattern).matches(text), "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_stay_quick() {
        let pattern = "*a".repeat(200) + "b";
        assert!(!Glob::new(&pattern).matches(&"a".repeat(5_000)));
    }
}
