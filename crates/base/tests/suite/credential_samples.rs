//! Texts with credentials, and texts without. The browser's tests use them, too.
//!
//! No token stands here as a whole, so that scanners of repositories find none.

/// Characters that look random and are the same in each run.
pub(crate) fn random(alphabet: &str, length: usize) -> String {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ (length as u64) << 7 ^ alphabet.len() as u64;
    let letters: Vec<char> = alphabet.chars().collect();
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        letters[usize::try_from(state % letters.len() as u64).expect("it is small")]
    };
    (0..length).map(|_| next()).collect()
}

pub(crate) const MIXED: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
pub(crate) const HEX: &str = "0123456789abcdef";
const URL: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
const BASE64: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const DIGITS: &str = "0123456789";

/// A private key in lines, with a label such as `RSA PRIVATE KEY`.
pub(crate) fn private_key(label: &str, end: &str) -> String {
    let body = random(BASE64, 256);
    let lines: Vec<&str> = (0..4).map(|line| &body[line * 64..][..64]).collect();
    format!("-----BEGIN {label}-----{end}{}{end}-----END {label}-----", lines.join(end))
}

/// Credentials, each with the word of its kind.
pub(crate) fn credentials() -> Vec<(&'static str, String)> {
    let mixed = |length| random(MIXED, length);
    let hex = |length| random(HEX, length);
    let url = |length| random(URL, length);
    let digits = |length| random(DIGITS, length);
    let id = format!("AKIA{}", random(BASE32, 16));
    let secret = format!("{}9aZ", random(BASE64, 37));
    vec![
        ("private_key", private_key("PRIVATE KEY", "\n")),
        ("private_key", private_key("RSA PRIVATE KEY", "\r\n")),
        ("private_key", private_key("EC PRIVATE KEY", "\n    ")),
        ("private_key", private_key("OPENSSH PRIVATE KEY", "\n> ")),
        ("private_key", private_key("ENCRYPTED PRIVATE KEY", "\\n")),
        ("private_key", private_key("PGP PRIVATE KEY BLOCK", "\nVersion: 2\n\n")),
        ("private_key", private_key("PRIVATE KEY", "\\n\" +\n  \"")),
        ("private_key", format!("AGE-SECRET-KEY-1{}", random(CAPITALS, 58))),
        ("accord_key", format!("accord_{}_{}", mixed(16), mixed(52))),
        ("aws_secret", format!("aws_secret_access_key = {secret}")),
        ("aws_secret", format!("AWS_SECRET_ACCESS_KEY=\"{secret}\"")),
        ("aws_secret", format!("SecretAccessKey: {secret}")),
        ("aws_secret", format!("the id is {id} and the other half {secret}")),
        ("aws_secret", format!("{secret}\n{id}")),
        ("azure_key", format!("AccountName=a;AccountKey={}==;", random(BASE64, 86))),
        ("google_key", format!("key=AIza{}", random(URL, 35))),
        ("google_key", format!("GOCSPX-{}", url(28))),
        ("google_key", format!("ya29.{}", url(120))),
        ("digitalocean_token", format!("dop_v1_{}", hex(64))),
        ("github_token", format!("ghp_{}", mixed(36))),
        ("github_token", format!("https://x:gho_{}@github.com/a/b", mixed(36))),
        ("github_token", format!("token: ghs_{}.", mixed(36))),
        ("github_token", format!("github_pat_{}_{}", mixed(22), mixed(59))),
        ("gitlab_token", format!("glpat-{}", url(20))),
        ("gitlab_token", format!("glpat-{}.01.{}", url(40), random("abcdef0123456789", 9))),
        ("gitlab_token", format!("glptt-{}", hex(40))),
        ("atlassian_token", format!("ATATT3xFfGF0{}={}", url(170), random(CAPITALS, 8))),
        ("npm_token", format!("//host/:_authToken=npm_{}", mixed(36))),
        ("pypi_token", format!("pypi-AgEIcHlwaS5vcmc{}", url(130))),
        ("rubygems_key", format!("rubygems_{}", hex(48))),
        ("docker_token", format!("dckr_pat_{}", url(27))),
        ("huggingface_token", format!("hf_{}", mixed(34))),
        ("openai_key", format!("sk-{}", mixed(48))),
        ("openai_key", format!("sk-proj-{}", url(120))),
        ("anthropic_key", format!("sk-ant-api03-{}AA", url(93))),
        ("openrouter_key", format!("sk-or-v1-{}", hex(64))),
        ("slack_token", format!("xoxb-{}-{}-{}", digits(12), digits(13), mixed(24))),
        ("slack_token", format!("xoxp-{0}-{0}-{0}-{1}", digits(12), hex(32))),
        (
            "slack_token",
            format!(
                "https://hooks.slack.com/services/T{0}/B{0}/{1}",
                random(CAPITALS, 9),
                mixed(24)
            ),
        ),
        ("stripe_key", format!("sk_live_{}", mixed(24))),
        ("sendgrid_key", format!("SG.{}.{}", url(22), url(43))),
        ("vault_token", format!("hvs.{}", url(95))),
    ]
}

/// Texts that are no credentials, though some look like one.
pub(crate) fn others() -> Vec<String> {
    let mixed = |length| random(MIXED, length);
    let hex = |length| random(HEX, length);
    let mut texts: Vec<String> = [
        "AKIAIOSFODNN7EXAMPLE",
        "AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "aws_secret_access_key = ${AWS_SECRET_ACCESS_KEY}",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
        "ghp_1234567890abcdefghijklmnopqrstuvwxyz",
        "ghp_YourPersonalAccessTokenGoesHere12345",
        "ghp_… ghp_*** ghp_<token> github_pat_ gho_",
        "glpat-XXXXXXXXXXXXXXXXXXXX",
        "glpat-your-token-goes-here",
        "sk-ant-api03-...",
        "sk-proj-your-openai-key-goes-here-and-nothing-else-follows-it",
        "sk-learn-pipeline-with-a-very-long-name-for-a-branch-of-git-in-it",
        "task-ant-api03-list disk-proj-one risk-or-v1",
        "xoxb-not-a-real-token-this-will-not-work",
        "npm_config_registry npm_lifecycle_event npm_package_name",
        "pypi-simple hf_transfer hf_hub_download sk_live_ accord_live_session_of_the_team",
        "a key of Accord is accord_ID_SECRET, such as accord_0123456789abcdef_…",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "a file that begins with -----BEGIN RSA PRIVATE KEY----- is never committed",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B...\n-----END PRIVATE KEY-----",
        "550e8400-e29b-41d4-a716-446655440000",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJl3dIeudNqd0DPMRD6OIh65tjkxFNOtwGcWB2gCgPhk a@b",
        "the secret access key was rotated; secret_access_key: see the vault",
        "integrity sha512-Yb5dWbH1Rbmq5y2yJtJYz1yK8PpZ8nQbZQ3mJHd1x2W8sXwQ0m3YzXb0Zl6JcX1hQ==",
    ]
    .map(str::to_owned)
    .into();
    texts.extend([
        hex(40),
        hex(64),
        format!("sha256:{}", hex(64)),
        format!("secret access key: {}", hex(40)),
        // The id of an access key is no secret, also beside a digest.
        format!("AKIA{} {}", random(BASE32, 16), hex(40)),
        // Longer or shorter than a token.
        format!("ghp_{}", mixed(35)),
        format!("ghp_{}", mixed(37)),
        // A part of a word.
        format!("xghp_{} my_ghp_{}", mixed(36), mixed(36)),
        format!("data:image/png;base64,{}", random(BASE64, 100_000)),
        private_key("PUBLIC KEY", "\n"),
        private_key("CERTIFICATE", "\n"),
        private_key("PGP PUBLIC KEY BLOCK", "\n"),
        format!("resolved \"https://host/a/-/a-1.0.0.tgz#{}\"", hex(40)),
        format!("checksum = \"{}\"", hex(64)),
    ]);
    texts
}
