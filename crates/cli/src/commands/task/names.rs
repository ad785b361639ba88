//! Names of the wire contract as values of options.

use accord_contract::wire::Names;
use clap::builder::{PossibleValuesParser, TypedValueParser};

pub(in crate::commands) fn name_parser<N: Names + Send + Sync>() -> impl TypedValueParser<Value = N>
{
    one_of(N::ALL)
}

/// Reads one of these names.
pub(in crate::commands) fn one_of<N: Names + Send + Sync>(
    known: &'static [N],
) -> impl TypedValueParser<Value = N> {
    let names = PossibleValuesParser::new(known.iter().map(|name| name.as_str()));
    names.map(|text| N::find(&text).expect("the parser accepts names of the list only"))
}
