//! `accord canon`: the canonical form of a JSON document, or its digest.

use std::io::IsTerminal as _;

use accord_canon::{Canonicalizer, Hash, Numbers, Profile};

use crate::input::InputArgs;
use crate::{CliError, Exit, Output, Result};

/// Print the canonical form of a JSON document, or its digest
#[derive(Debug, clap::Args)]
pub(crate) struct CanonArgs {
    /// The canonicalization rules: key order and treatment of null
    #[arg(long, value_enum)]
    profile: ProfileArg,

    /// Print the digest of the canonical form instead
    #[arg(long, value_enum)]
    hash: Option<HashArg>,

    /// The domain tag to hash before the canonical form
    #[arg(long, value_name = "TAG", requires = "hash")]
    tag: Option<String>,

    #[command(flatten)]
    numbers: NumbersArgs,
    #[command(flatten)]
    input: InputArgs,
}

/// How to treat integers that a double cannot represent.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct NumbersArgs {
    /// How to treat an integer that a double cannot represent exactly
    #[arg(long, value_enum, default_value = "exact")]
    numbers: NumbersArg,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ProfileArg {
    /// RFC 8785
    Jcs,
    /// ALX Knowledge Blocks: RFC 8785 without null
    Alx,
    /// Agentic Protocol packages: keys by byte, null members dropped
    Agentic,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum HashArg {
    /// SHA-256, printed as bare digits
    Sha256,
    /// Keccak-256, printed with 0x
    Keccak256,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum NumbersArg {
    /// Refuse the document
    Exact,
    /// Round it as ECMAScript does, to check blocks of other implementations
    Round,
}

impl CanonArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let document = self.input.read()?;
        let profile = match self.profile {
            ProfileArg::Jcs => Profile::Jcs,
            ProfileArg::Alx => Profile::Alx,
            ProfileArg::Agentic => Profile::Agentic,
        };
        let mut canonicalizer = Canonicalizer::with_numbers(profile, self.numbers.get());
        let canonical = canonicalizer.canonicalize(&document);
        let canonical = canonical.map_err(|error| CliError::from_canon(&error, &document))?;
        let mut output = Output::stdout();
        let tag = self.tag.as_deref().unwrap_or_default().as_bytes();
        match self.hash {
            // No line end is added, so that the output can be hashed. On a terminal there is one,
            // for the prompt.
            None if std::io::stdout().is_terminal() => output.line(canonical)?,
            None => output.bytes(canonical)?,
            Some(HashArg::Sha256) => output.line(Hash::Sha256.of(&[tag, canonical]).hex())?,
            Some(HashArg::Keccak256) => {
                output.line(Hash::Keccak256.of(&[tag, canonical]).prefixed())?;
            }
        }
        output.finish()
    }
}

impl NumbersArgs {
    pub(crate) fn get(self) -> Numbers {
        match self.numbers {
            NumbersArg::Exact => Numbers::Exact,
            NumbersArg::Round => Numbers::Round,
        }
    }
}
