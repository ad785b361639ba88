//! Credentials in texts: private keys, tokens of clouds and forges, keys of Accord.
//!
//! The set is small and precise. Something is found only if it has the prefix, the length and the
//! alphabet of a credential, and does not look like a placeholder: a hit refuses what somebody
//! wants to write down, so a false one costs more than a rare form that is not known.
//!
//! Invariants:
//! - a search takes time in proportion to the length of the text: each rule looks at a limited
//!   number of bytes after its prefix;
//! - what is found is named by its kind and place. Nothing here returns its value.

mod aws;
mod pem;
mod place;
mod rules;

pub use place::{CODE, CredentialPlace, MAX_PLACES, find_in, may_be_in, warnings};

/// The kind of a credential.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CredentialKind {
    PrivateKey,
    AccordKey,
    Aws,
    Azure,
    Google,
    DigitalOcean,
    GitHub,
    GitLab,
    Atlassian,
    Npm,
    PyPi,
    RubyGems,
    Docker,
    HuggingFace,
    OpenAi,
    Anthropic,
    OpenRouter,
    Slack,
    Stripe,
    SendGrid,
    Vault,
}

/// A credential in a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Credential {
    pub kind: CredentialKind,
    /// The line in which it begins, from 1.
    pub line: usize,
}

impl CredentialKind {
    /// The word for programs.
    pub fn as_str(self) -> &'static str {
        self.names().0
    }

    /// What people call it, with its article.
    pub fn in_words(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::PrivateKey => ("private_key", "a private key"),
            Self::AccordKey => ("accord_key", "a key of Accord"),
            Self::Aws => ("aws_secret", "a secret access key of AWS"),
            Self::Azure => ("azure_key", "a storage key of Azure"),
            Self::Google => ("google_key", "a key of Google"),
            Self::DigitalOcean => ("digitalocean_token", "a token of DigitalOcean"),
            Self::GitHub => ("github_token", "a token of GitHub"),
            Self::GitLab => ("gitlab_token", "a token of GitLab"),
            Self::Atlassian => ("atlassian_token", "a token of Atlassian"),
            Self::Npm => ("npm_token", "a token of npm"),
            Self::PyPi => ("pypi_token", "a token of PyPI"),
            Self::RubyGems => ("rubygems_key", "a key of RubyGems"),
            Self::Docker => ("docker_token", "a token of Docker"),
            Self::HuggingFace => ("huggingface_token", "a token of Hugging Face"),
            Self::OpenAi => ("openai_key", "a key of OpenAI"),
            Self::Anthropic => ("anthropic_key", "a key of Anthropic"),
            Self::OpenRouter => ("openrouter_key", "a key of OpenRouter"),
            Self::Slack => ("slack_token", "a token of Slack"),
            Self::Stripe => ("stripe_key", "a live key of Stripe"),
            Self::SendGrid => ("sendgrid_key", "a key of SendGrid"),
            Self::Vault => ("vault_token", "a token of Vault"),
        }
    }
}

/// The first credential in a text.
pub fn find(text: &str) -> Option<Credential> {
    let bytes = text.as_bytes();
    let (mut line, mut is_inside_word) = (1, false);
    for (at, byte) in bytes.iter().copied().enumerate() {
        if let Some(kind) = at_position(bytes, at, byte, is_inside_word) {
            return Some(Credential { kind, line });
        }
        line += usize::from(byte == b'\n');
        is_inside_word = byte.is_ascii_alphanumeric() || byte == b'_';
    }
    None
}

fn at_position(bytes: &[u8], at: usize, byte: u8, is_inside_word: bool) -> Option<CredentialKind> {
    let rest = &bytes[at..];
    match byte {
        b'-' => pem::is_private_key(rest).then_some(CredentialKind::PrivateKey),
        // The name of the key may be a part of a word: `AWS_SECRET_ACCESS_KEY`.
        b's' | b'S' if aws::is_named_secret(rest) => Some(CredentialKind::Aws),
        b'A' if !is_inside_word && aws::is_pair(bytes, at) => Some(CredentialKind::Aws),
        _ if is_inside_word => None,
        _ => rules::kind_of(rest),
    }
}

/// Whether what should be random is a placeholder, such as `xxxx`, `your-token` or `123456`.
fn is_placeholder(body: &[u8]) -> bool {
    const WORDS: [&[u8]; 13] = [
        b"example",
        b"placeholder",
        b"your",
        b"fake",
        b"dummy",
        b"sample",
        b"redacted",
        b"replace",
        b"changeme",
        b"secret",
        b"token",
        b"xxxx",
        b"notreal",
    ];
    /// How many different characters are the least, and how many in a row are a pattern.
    const LEAST_DIFFERENT: usize = 6;
    const IN_A_ROW: usize = 6;
    let lower = body.to_ascii_lowercase();
    if WORDS.iter().any(|word| lower.windows(word.len()).any(|part| part == *word)) {
        return true;
    }
    let is_row = |part: &[u8], step: u8| {
        part.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(step))
    };
    if body.windows(IN_A_ROW).any(|part| is_row(part, 0) || is_row(part, 1)) {
        return true;
    }
    different(body) < LEAST_DIFFERENT
}

fn different(body: &[u8]) -> usize {
    let mut seen = [false; 256];
    body.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    seen.iter().filter(|seen| **seen).count()
}
