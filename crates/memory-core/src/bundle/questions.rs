//! Open questions, gathered from the packages of a window.

use std::collections::BTreeMap;

use crate::PackageId;

pub const MAX_QUESTIONS: usize = 100;
/// The most questions that are read for a bundle. It bounds the cost of a question that every
/// package of a large project repeats.
pub const MAX_QUESTION_ROWS: usize = 2_000;
/// The most packages that are named as the sources of one question.
const MAX_SOURCES: usize = 10;

/// The questions of a window: each once, newest first.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OpenQuestions {
    questions: Vec<Question>,
    places: BTreeMap<String, usize>,
    looked_at: usize,
    cut: bool,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Question {
    text: String,
    sources: Vec<PackageId>,
}

impl OpenQuestions {
    /// Adds the next question of the window, newest packages first. Returns whether there is room
    /// for more. Surrounding white space is ignored.
    pub fn offer(&mut self, question: &str, package: &PackageId) -> bool {
        if self.cut || self.looked_at == MAX_QUESTION_ROWS {
            self.cut = true;
            return false;
        }
        self.looked_at += 1;
        let text = question.trim();
        if text.is_empty() {
            return true;
        }
        if let Some(place) = self.places.get(text) {
            let sources = &mut self.questions[*place].sources;
            if sources.len() < MAX_SOURCES && !sources.contains(package) {
                sources.push(package.clone());
            }
            return true;
        }
        if self.questions.len() == MAX_QUESTIONS {
            self.cut = true;
            return false;
        }
        self.places.insert(text.to_owned(), self.questions.len());
        self.questions.push(Question { text: text.to_owned(), sources: vec![package.clone()] });
        true
    }

    pub fn len(&self) -> usize {
        self.questions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }

    pub fn is_cut(&self) -> bool {
        self.cut
    }

    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.questions.iter().map(|question| question.text.as_str())
    }

    /// The packages that ask each question, newest first.
    pub fn sources(&self) -> impl Iterator<Item = &[PackageId]> {
        self.questions.iter().map(|question| question.sources.as_slice())
    }
}
