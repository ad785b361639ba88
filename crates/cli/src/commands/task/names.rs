//! Names of the wire contract as values of options.

use accord_contract::wire::Names;
use clap::builder::{PossibleValuesParser, TypedValueParser};

pub(in crate::commands) fn name_parser<N: Names + Send + Sync>() -> impl TypedValueParser<Value = N>
{
    let names = N::ALL.iter().map(|name| name.as_str());
    PossibleValuesParser::new(names)
        .map(|text| N::find(&text).expect("the parser accepts names of the list only"))
}
