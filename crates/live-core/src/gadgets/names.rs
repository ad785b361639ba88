//! The forms of the names around gadgets and tools.

/// A name of a package: `leaflet`, `@acme/maps`.
pub fn is_package(text: &str) -> bool {
    let is_part = |part: &str| {
        let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        part.bytes().next().is_some_and(letter)
            && part.bytes().all(|byte| letter(byte) || b"._-".contains(&byte))
    };
    match text.strip_prefix('@') {
        Some(rest) => {
            rest.split_once('/').is_some_and(|(scope, name)| is_part(scope) && is_part(name))
        }
        None => is_part(text),
    }
}

/// A hook: `useLeafletMap`.
pub fn is_hook(text: &str) -> bool {
    text.strip_prefix("use").is_some_and(is_component)
}

/// A component: `RevenueChart`.
pub fn is_component(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// An exact version: `1.2.3`, `1.2.3-beta.1`, `1.2.3+build.7`.
pub fn is_version(text: &str) -> bool {
    let is_suffix = |text: &str| {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_.".contains(&byte);
        !text.is_empty() && text.bytes().all(letter)
    };
    let (text, has_build) = match text.split_once('+') {
        Some((text, build)) => (text, is_suffix(build)),
        None => (text, true),
    };
    let (core, has_prerelease) = match text.split_once('-') {
        Some((core, prerelease)) => (core, is_suffix(prerelease)),
        None => (text, true),
    };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<_> = core.split('.').collect();
    has_build && has_prerelease && parts.len() == 3 && parts.into_iter().all(is_number)
}

/// A host of bundles, without scheme and path: `cdn.example.com`, `localhost:4873`.
pub fn is_bundle_host(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
    let (host, has_port) = split_port(text);
    has_port && !host.is_empty() && host.chars().all(letter)
}

/// A host that is this machine.
pub fn is_loopback_host(text: &str) -> bool {
    let (host, has_port) = split_port(text);
    has_port && matches!(host, "localhost" | "127.0.0.1" | "0.0.0.0")
}

/// A host before its port, and whether the port is a number or absent.
fn split_port(text: &str) -> (&str, bool) {
    match text.split_once(':') {
        Some((host, port)) => {
            (host, !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
        }
        None => (text, true),
    }
}

/// A digest of a bundle for a browser: `sha384-…`.
pub fn is_integrity(text: &str) -> bool {
    text.strip_prefix("sha384-").map(|digest| digest.trim_end_matches('=')).is_some_and(|digest| {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+/".contains(&byte);
        !digest.is_empty() && digest.bytes().all(letter)
    })
}

/// A public value of an app: `GGUI_PUBLIC_APP_MAPBOX_TOKEN`.
pub fn is_public_env(text: &str) -> bool {
    text.strip_prefix("GGUI_PUBLIC_APP_").is_some_and(|name| {
        let letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        !name.is_empty() && name.bytes().all(letter)
    })
}

/// A tool or a server of MCP, in a binding.
pub fn is_tool(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=128).contains(&text.len()) && text.bytes().all(letter)
}
