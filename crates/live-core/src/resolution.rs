//! Where the code and the styles of a gadget package are.

use accord_contract::rule;

use crate::gadgets::names::is_loopback_host;
use crate::gadgets::{GadgetDescriptor, STANDARD_PACKAGE};

/// The host of bundles where a descriptor names none.
pub const DEFAULT_BUNDLE_HOST: &str = "registry.ggui.ai";

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct BundleUrls {
    pub bundle_url: Option<String>,
    pub style_url: Option<String>,
}

/// The addresses of a package. The standard package has none: it comes with every page. An
/// explicit address is used as it is, and nothing is made up beside it. Otherwise both follow from
/// host, package and version; without a version there are none.
///
/// Clauses: GGUI-GADGET-URL-STANDARD, GGUI-GADGET-URL-EXPLICIT, GGUI-GADGET-URL-HOST,
/// GGUI-GADGET-URL-LOOPBACK.
pub fn bundle_urls(package: &GadgetDescriptor) -> BundleUrls {
    if rule!(package.package == STANDARD_PACKAGE; StandardFetched => false) {
        return BundleUrls::default();
    }
    let is_explicit = package.bundle_url.is_some();
    if rule!(is_explicit; StylesInvented => is_explicit && package.style_url.is_some()) {
        let (bundle_url, style_url) = (package.bundle_url.clone(), package.style_url.clone());
        return BundleUrls { bundle_url, style_url };
    }
    let Some(version) = &package.version else { return BundleUrls::default() };
    let host = package.bundle_host.as_deref().unwrap_or(DEFAULT_BUNDLE_HOST);
    // A page on this machine cannot load https from a local registry, which has no certificate.
    let is_local = rule!(is_loopback_host(host); LoopbackEncrypted => false);
    let scheme = if is_local { "http" } else { "https" };
    let file =
        |name| format!("{scheme}://{host}/bundles/public/{}/{version}/{name}", package.package);
    let style_url = package.style_url.clone().unwrap_or_else(|| file("style.css"));
    BundleUrls { bundle_url: Some(file("bundle.js")), style_url: Some(style_url) }
}
