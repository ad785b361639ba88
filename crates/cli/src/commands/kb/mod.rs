//! `accord kb`: the identity of Knowledge Blocks.

pub(crate) mod answers;
mod batch;
mod explain;
mod question;

use accord_canon::Digest;
use accord_knowledge_core::{HashOptions, SourceMode};

use self::question::{Answerer, Question};
use super::canon::NumbersArgs;
use crate::input::InputArgs;
use crate::{Exit, Result, print_either};

subcommands! {
    /// Compute, check and explain the identity of Knowledge Blocks
    pub(crate) KbArgs, KbCommand {
        /// Print the kbHash of an envelope
        Hash(EnvelopeArgs) as Question::Hash,
        /// Check the kbHash and artifactHash that an envelope states
        Verify(VerifyArgs),
        /// Print the CIDv1 of an envelope's canonical form
        Cid(EnvelopeArgs) as Question::Cid,
        /// Show how an envelope becomes its kbHash, step by step
        Explain(EnvelopeArgs) as Question::Explain,
    }
}

/// The envelope, and how to read it.
#[derive(Debug, clap::Args)]
struct EnvelopeArgs {
    #[command(flatten)]
    input: InputArgs,

    /// How to treat duplicate sources
    #[arg(long, value_enum, default_value = "reject")]
    sources: SourcesArg,

    #[command(flatten)]
    numbers: NumbersArgs,

    /// Read one envelope per line, and write one JSON object per line
    #[arg(long)]
    batch: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct VerifyArgs {
    #[command(flatten)]
    envelope: EnvelopeArgs,

    /// The expected kbHash, instead of the one that the envelope states
    #[arg(long, value_name = "HASH", conflicts_with = "batch", value_parser = kb_hash)]
    expect: Option<String>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SourcesArg {
    /// Refuse the envelope
    Reject,
    /// Hash each source once
    Dedup,
    /// Hash every occurrence
    AsIs,
}

impl VerifyArgs {
    fn run(self) -> Result<Exit> {
        self.envelope.run(Question::Verify { expect: self.expect })
    }
}

impl EnvelopeArgs {
    fn run(self, question: Question) -> Result<Exit> {
        let mut answerer = Answerer::new(question, self.options());
        if self.batch {
            return batch::run(&self.input, &mut answerer);
        }
        let answer = answerer.answer(&self.input.read()?, None)?;
        let document = self.json.then(|| format!("{:#}", answer.json));
        print_either(document, |page| page.line(answer.text.trim_end()))?;
        Ok(Exit::from_answer(answer.yes))
    }

    fn options(&self) -> HashOptions {
        let sources = match self.sources {
            SourcesArg::Reject => SourceMode::Reject,
            SourcesArg::Dedup => SourceMode::Dedup,
            SourcesArg::AsIs => SourceMode::AsIs,
        };
        HashOptions { sources, numbers: self.numbers.get() }
    }
}

/// Reads a kbHash as blocks write it.
fn kb_hash(text: &str) -> Result<String, String> {
    match text.strip_prefix("0x").map(str::parse::<Digest>) {
        Some(Ok(digest)) => Ok(digest.prefixed()),
        _ => Err("a kbHash is 0x and 64 lowercase hexadecimal digits".to_owned()),
    }
}
