//! The questions about an envelope and their answers.

use std::fmt::Display;

use accord_contract::Wire as _;
use accord_knowledge_core::{Check, HashOptions, KbError, KbHasher, Verification, verify};

use super::answers::{Comparison, KbChecks, KbCidAnswer, KbHashAnswer, KbVerifyAnswer};
use super::explain::explain;
use crate::{CliError, Result};

#[derive(Debug)]
pub(super) enum Question {
    Hash,
    Cid,
    Explain,
    Verify { expect: Option<String> },
}

/// The answer, for people and for programs.
pub(super) struct Answer {
    pub(super) yes: bool,
    pub(super) text: String,
    /// The document; the alternate form has line breaks.
    pub(super) json: Box<dyn Display>,
}

/// Answers one question for one envelope after the other.
pub(super) struct Answerer {
    question: Question,
    options: HashOptions,
    hasher: KbHasher,
}

impl Answerer {
    pub(super) fn new(question: Question, options: HashOptions) -> Self {
        Self { question, options, hasher: KbHasher::new(options) }
    }

    /// Answers for one envelope; `line` is its line in a batch.
    pub(super) fn answer(&mut self, document: &[u8], line: Option<u64>) -> Result<Answer> {
        self.ask(document, line).map_err(|error| CliError::from_kb(&error, document))
    }

    fn ask(&mut self, document: &[u8], line: Option<u64>) -> Result<Answer, KbError> {
        if let Question::Verify { expect } = &self.question {
            let verification = verify(document, expect.as_deref(), self.options)?;
            // Nothing was compared. Exit code 0 would say that the block is valid.
            if verification.is_empty() {
                let detail = "the envelope states no hash to verify; name one with --expect";
                let (pointer, detail) = ("/kbHash".to_owned(), detail.to_owned());
                return Err(KbError::InvalidEnvelope { pointer, detail });
            }
            return Ok(verified(&verification, line));
        }
        let identified = self.hasher.identify(document)?;
        let (text, json) = match self.question {
            Question::Explain => return Ok(explain(document, line, &identified)),
            Question::Cid => {
                let cid = identified.cid();
                (cid.clone(), KbCidAnswer { line, cid }.encode())
            }
            _ => {
                let kb_hash = identified.kb_hash.prefixed();
                (kb_hash.clone(), KbHashAnswer { line, kb_hash }.encode())
            }
        };
        Ok(Answer { yes: true, text: text + "\n", json: Box::new(json) })
    }
}

fn verified(verification: &Verification, line: Option<u64>) -> Answer {
    let kb_hash = verification.kb_hash.prefixed();
    let artifact_hash = verification.artifact_hash.map(|digest| digest.prefixed());
    let mut text = check_line("kbHash", verification.kb_hash_check, Some(&kb_hash));
    text += &check_line("artifactHash", verification.artifact_check, artifact_hash.as_deref());
    let answer = KbVerifyAnswer {
        line,
        valid: verification.is_valid(),
        kb_hash,
        artifact_hash,
        checks: KbChecks {
            kb_hash: comparison(verification.kb_hash_check),
            artifact_hash: comparison(verification.artifact_check),
        },
        failures: verification.failures().into_iter().map(Into::into).collect(),
    };
    for code in &answer.failures {
        text += &format!("{code}\n");
    }
    Answer { yes: answer.valid, text, json: Box::new(answer.encode()) }
}

fn comparison(check: Check) -> Comparison {
    match check {
        Check::Match => Comparison::Match,
        Check::Mismatch => Comparison::Mismatch,
        Check::Absent => Comparison::Absent,
    }
}

fn check_line(name: &str, check: Check, computed: Option<&str>) -> String {
    let computed = computed.unwrap_or("nothing to hash");
    let said = match check {
        Check::Match => "is as computed",
        Check::Mismatch => "is another than computed",
        Check::Absent => "is not stated; computed",
    };
    format!("{:<8}  {name} {said}: {computed}\n", check.as_str())
}
