//! English words that say how a question is built, not what it is about.

/// Whether a word, without case and accents, is a function word of English. The last letters of
/// contractions are words of their own here: `don't` is `don` and `t`.
#[expect(clippy::match_like_matches_macro, reason = "a match keeps the list of words short")]
pub(super) fn is_function_word(folded: &str) -> bool {
    match folded {
        "a" | "about" | "also" | "am" | "an" | "and" | "anybody" | "anyone" | "anything"
        | "are" | "aren" | "as" | "at" | "be" | "because" | "been" | "being" | "but" | "by"
        | "can" | "could" | "couldn" | "d" | "did" | "didn" | "do" | "does" | "doesn" | "doing"
        | "don" | "done" | "either" | "else" | "ever" | "for" | "had" | "hadn" | "has" | "hasn"
        | "have" | "haven" | "having" | "he" | "her" | "here" | "hers" | "him" | "his" | "how"
        | "i" | "if" | "in" | "is" | "isn" | "it" | "its" | "just" | "ll" | "m" | "me"
        | "might" | "must" | "my" | "nor" | "of" | "on" | "or" | "our" | "ours" | "please"
        | "re" | "s" | "shall" | "she" | "should" | "shouldn" | "so" | "some" | "somebody"
        | "someone" | "something" | "such" | "t" | "tell" | "than" | "that" | "the" | "their"
        | "theirs" | "them" | "then" | "there" | "these" | "they" | "this" | "those" | "to"
        | "too" | "upon" | "us" | "ve" | "very" | "was" | "wasn" | "we" | "were" | "weren"
        | "what" | "whatever" | "when" | "where" | "whether" | "which" | "who" | "whom"
        | "whose" | "why" | "will" | "with" | "would" | "wouldn" | "you" | "your" | "yours" => true,
        _ => false,
    }
}

/// Whether a word, without case and accents, relates other words to each other (`before`, `not`).
/// A short question has it for a reason; most long texts have it.
#[expect(clippy::match_like_matches_macro, reason = "a match keeps the list of words short")]
pub(super) fn is_relation(folded: &str) -> bool {
    match folded {
        "after" | "again" | "all" | "any" | "before" | "both" | "each" | "every" | "from"
        | "into" | "no" | "not" | "out" | "up" | "while" | "yet" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_function_word;

    #[test]
    fn words_of_a_question_are_function_words() {
        assert!(is_function_word("what"));
        assert!(!is_function_word("decide"));
    }
}
