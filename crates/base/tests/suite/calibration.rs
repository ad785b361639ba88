//! The estimate of tokens, against the counts of public tokenizers.
//!
//! `calibration.json` has texts that were written for it, with their counts. How they were counted
//! is in `tools/tokens/measure.mjs`.

use accord_base::tokens;
use proptest::prelude::*;
use serde_json::Value;

struct Measured {
    name: String,
    text: String,
    /// The higher of the two counts.
    counted: usize,
}

fn measured() -> Vec<Measured> {
    let texts: Vec<Value> = serde_json::from_str(include_str!("calibration.json")).unwrap();
    let text = |of: &Value, name: &str| of[name].as_str().unwrap().to_owned();
    let count = |of: &Value, name: &str| of[name].as_u64().unwrap() as usize;
    let read = |of: &Value| Measured {
        name: text(of, "name"),
        text: text(of, "text"),
        counted: count(of, "cl100k").max(count(of, "o200k")),
    };
    texts.iter().map(read).collect()
}

#[test]
fn the_estimate_is_never_below_a_public_tokenizer() {
    let texts = measured();
    assert!(texts.len() > 40);
    for text in &texts {
        let (estimate, counted) = (tokens(&text.text), text.counted);
        println!(
            "{:20} {counted:5} counted {estimate:5} estimated, {:3} % above",
            text.name,
            estimate * 100 / counted - 100
        );
        assert!(estimate >= counted, "{}: {estimate} of {counted}", text.name);
    }
}

#[test]
fn the_estimate_is_not_far_above() {
    for text in measured() {
        let (estimate, counted) = (tokens(&text.text), text.counted);
        let most = match text.name.split(' ').next().unwrap() {
            "briefing" => 125,
            "hex" | "base64" | "numbers" => 110,
            "english" => 140,
            "chinese" => 175,
            _ => 150,
        };
        assert!(estimate * 100 <= counted * most, "{}: {estimate} of {counted}", text.name);
    }
}

#[test]
fn a_space_at_the_start_of_a_line_is_part_of_what_follows() {
    let lines = ["日\n", " !\t:{!!!!!!日aDB!::!:\t:!é\néa\n日!:🦀\n"];
    let sum: usize = lines.iter().map(|line| tokens(line)).sum();
    assert!(tokens(&lines.concat()) <= sum);
}

proptest! {
    #[test]
    fn lines_have_joined_at_most_the_sum_of_their_estimates(
        lines in prop::collection::vec("[ -~\\n\\t日é🦀]{0,80}\\n", 0..12),
    ) {
        let sum: usize = lines.iter().map(|line| tokens(line)).sum();
        prop_assert!(tokens(&lines.concat()) <= sum);
    }

    #[test]
    fn a_text_has_no_more_tokens_than_bytes_and_a_margin(text in "\\PC{0,200}") {
        prop_assert!(tokens(&text) <= text.len() * 2 + 1);
    }
}
