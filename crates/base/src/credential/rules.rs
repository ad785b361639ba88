//! Tokens that begin with a prefix of their issuer.

use super::CredentialKind as Kind;
use super::is_placeholder;

/// How much of a token of any length is looked at.
const CUT: usize = 128;

struct Rule {
    prefix: &'static str,
    kind: Kind,
    /// What follows the prefix.
    pieces: &'static [Piece],
}

enum Piece {
    /// Characters of an alphabet, from the least to the most number.
    Run(Alphabet, usize, usize),
    Text(&'static str),
}

#[derive(Clone, Copy)]
enum Alphabet {
    Digits,
    LowerHex,
    /// Letters of both cases and digits.
    Mixed,
    /// The same with `-` and `_`.
    Url,
    /// The same as `Url` with `=`.
    Padded,
    Base64,
    Capitals,
    /// Letters and digits, of one case or both.
    Any,
}

use Alphabet::{Any, Base64, Capitals, Digits, LowerHex, Mixed, Padded, Url};
use Piece::{Run, Text};

macro_rules! rules {
    ($($kind:ident $prefix:literal $($piece:expr),+;)+) => {
        const RULES: &[Rule] = &[$(
            Rule { prefix: $prefix, kind: Kind::$kind, pieces: &[$($piece),+] },
        )+];
    };
}

rules! {
    Atlassian "ATATT3xFfGF0" Run(Padded, 100, CUT);
    Atlassian "ATBB" Run(Mixed, 32, 32);
    Atlassian "ATCTT3xFfGF0" Run(Padded, 100, CUT);
    Azure "AccountKey=" Run(Base64, 86, 86), Text("==");
    PrivateKey "AGE-SECRET-KEY-1" Run(Capitals, 58, 58);
    Google "AIza" Run(Url, 35, 35);
    Google "GOCSPX-" Run(Url, 28, 28);
    SendGrid "SG." Run(Url, 22, 22), Text("."), Run(Url, 43, 43);
    AccordKey "accord_" Run(Any, 8, 64), Text("_"), Run(Any, 32, CUT);
    Docker "dckr_pat_" Run(Url, 27, 27);
    DigitalOcean "doo_v1_" Run(LowerHex, 64, 64);
    DigitalOcean "dop_v1_" Run(LowerHex, 64, 64);
    DigitalOcean "dor_v1_" Run(LowerHex, 64, 64);
    GitHub "gho_" Run(Mixed, 36, 36);
    GitHub "ghp_" Run(Mixed, 36, 36);
    GitHub "ghr_" Run(Mixed, 36, 76);
    GitHub "ghs_" Run(Mixed, 36, 36);
    GitHub "ghu_" Run(Mixed, 36, 36);
    GitHub "github_pat_" Run(Mixed, 22, 22), Text("_"), Run(Mixed, 59, 59);
    GitLab "glagent-" Run(Url, 50, 50);
    GitLab "gldt-" Run(Url, 20, 20);
    GitLab "glpat-" Run(Url, 20, 20);
    GitLab "glpat-" Run(Url, 27, CUT), Text("."), Run(Any, 2, 2), Text("."), Run(Any, 9, 9);
    GitLab "glptt-" Run(LowerHex, 40, 40);
    GitLab "glrt-" Run(Url, 20, 20);
    GitLab "glsoat-" Run(Url, 20, 20);
    HuggingFace "hf_" Run(Mixed, 34, 34);
    Slack "hooks.slack.com/services/T" Run(Any, 8, 12), Text("/B"), Run(Any, 8, 12), Text("/"),
        Run(Mixed, 24, 24);
    Vault "hvs." Run(Url, 90, CUT);
    Npm "npm_" Run(Mixed, 36, 36);
    PyPi "pypi-AgEIcHlwaS5vcmc" Run(Url, 50, CUT);
    PyPi "pypi-AgENdGVzdC5weXBpLm9yZw" Run(Url, 50, CUT);
    Stripe "rk_live_" Run(Mixed, 24, CUT);
    RubyGems "rubygems_" Run(LowerHex, 48, 48);
    Anthropic "sk-ant-" Run(Any, 3, 10), Text("-"), Run(Url, 80, CUT);
    OpenAi "sk-admin-" Run(Url, 40, CUT);
    OpenRouter "sk-or-v1-" Run(LowerHex, 64, 64);
    OpenAi "sk-proj-" Run(Url, 40, CUT);
    OpenAi "sk-svcacct-" Run(Url, 40, CUT);
    OpenAi "sk-" Run(Mixed, 48, 48);
    Stripe "sk_live_" Run(Mixed, 24, CUT);
    Slack "xapp-" Run(Digits, 1, 1), Text("-"), Run(Any, 8, 14), Text("-"), Run(Digits, 9, 15),
        Text("-"), Run(LowerHex, 64, 64);
    Slack "xoxb-" Run(Digits, 9, 15), Text("-"), Run(Digits, 9, 15), Text("-"), Run(Mixed, 24, 40);
    Slack "xoxp-" Run(Digits, 9, 15), Text("-"), Run(Digits, 9, 15), Text("-"),
        Run(Digits, 9, 15), Text("-"), Run(Any, 28, 40);
    Google "ya29." Run(Url, 40, CUT);
}

/// The first two bytes of the prefixes, so that one look decides at nearly every place of a text.
static PAIRS: [[bool; 128]; 128] = {
    let mut pairs = [[false; 128]; 128];
    let mut index = 0;
    while index < RULES.len() {
        let prefix = RULES[index].prefix.as_bytes();
        pairs[prefix[0] as usize][prefix[1] as usize] = true;
        index += 1;
    }
    pairs
};

/// The kind of the token at the beginning of a text.
pub(super) fn kind_of(text: &[u8]) -> Option<Kind> {
    let mut rules = RULES.iter().filter(|_| may_begin(text));
    rules.find(|rule| rule.matches(text)).map(|rule| rule.kind)
}

/// Whether a text begins with one of the prefixes.
pub(super) fn has_prefix(text: &[u8]) -> bool {
    may_begin(text) && RULES.iter().any(|rule| text.starts_with(rule.prefix.as_bytes()))
}

fn may_begin(text: &[u8]) -> bool {
    let [first, second, ..] = text else { return false };
    PAIRS.get(usize::from(*first)).and_then(|row| row.get(usize::from(*second))) == Some(&true)
}

impl Rule {
    fn matches(&self, text: &[u8]) -> bool {
        let Some(mut rest) = text.strip_prefix(self.prefix.as_bytes()) else { return false };
        let mut longest: &[u8] = b"";
        for piece in self.pieces {
            match piece {
                Text(text) => match rest.strip_prefix(text.as_bytes()) {
                    Some(after) => rest = after,
                    None => return false,
                },
                Run(alphabet, least, most) => {
                    let length = rest.iter().take(most + 1).take_while(|it| alphabet.has(**it));
                    let length = length.count();
                    let is_cut = *most == CUT && length > CUT;
                    if length < *least || (length > *most && !is_cut) {
                        return false;
                    }
                    let (run, after) = rest.split_at(length);
                    if !alphabet.is_varied(run) {
                        return false;
                    }
                    if run.len() >= longest.len() {
                        longest = run;
                    }
                    rest = after;
                }
            }
        }
        !is_placeholder(longest)
    }
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        match self {
            Digits => byte.is_ascii_digit(),
            LowerHex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Mixed | Any => byte.is_ascii_alphanumeric(),
            Url => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Padded => Url.has(byte) || byte == b'=',
            Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'),
            Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        }
    }

    /// Whether a long run of this alphabet can be random: words and slugs have letters of one case.
    fn is_varied(self, run: &[u8]) -> bool {
        let has_lower = run.iter().any(u8::is_ascii_lowercase);
        match self {
            Mixed | Url | Padded | Base64 => has_lower && run.iter().any(u8::is_ascii_uppercase),
            LowerHex => has_lower && run.iter().any(u8::is_ascii_digit),
            Digits | Capitals | Any => true,
        }
    }
}
