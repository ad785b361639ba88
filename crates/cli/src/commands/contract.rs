//! `accord contract`: wire contracts as snapshots, made from the types.

use std::collections::BTreeMap;

use accord_contract::alx;
use accord_contract::snapshot::{Builder, Identity};
use accord_knowledge_core::{HashOptions, KB_V1, KbHasher};
use accord_live_core::operations as live;
use accord_tasks_core::operations;

use crate::{Exit, Result, print_line};

/// Print the snapshot of a wire contract, for `accord compat`
#[derive(Debug, clap::Args)]
pub(crate) struct ContractArgs {
    /// The contract
    #[arg(value_enum, default_value = "accord")]
    contract: Contract,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Contract {
    /// Everything that Accord serves
    Accord,
    /// ALX 1.1
    Alx,
}

impl ContractArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        print_line(match self.contract {
            Contract::Accord => accord(),
            Contract::Alx => format!("{:#}", alx::snapshot(vectors())),
        })
    }
}

type AddTo = fn(Builder) -> Builder;

/// The JSON Schemas of messages as they are printed, by name.
type Schemas = fn() -> Vec<(&'static str, String)>;

macro_rules! services {
    ($($($module:ident)::+,)+) => {
        &[$((
            $($module)::+::add_to,
            || {
                let schemas = $($module)::+::schemas().into_iter();
                schemas.map(|(name, schema)| (name, format!("{schema:#}"))).collect()
            },
        )),+]
    };
}

/// The requests and answers of the services.
pub(super) const SERVICES: &[(AddTo, Schemas)] = services! {
    accord_runs_core::operations::answers,
    operations::requests,
    operations::answers,
    accord_tasks::notify,
    accord_notify,
    accord_live::tools::requests,
    accord_live::tools::answers,
    accord_live::tools::reads,
    accord_live::tools::runtime,
    accord_live_core::messages::requests,
    accord_live_core::messages,
    live::requests,
    live::answers,
};

/// Everything that Accord serves, from the crates that serve it.
fn accord() -> String {
    let snapshot = accord_contract::snapshot::own().identity(Identity {
        domain_tag: KB_V1.tag.to_owned(),
        hash: "keccak256".to_owned(),
        scope: KB_V1.scope.iter().map(|name| (*name).to_owned()).collect(),
        vectors: vectors(),
    });
    let snapshot = accord_kit::contract::add_to(snapshot);
    let snapshot = super::kb::answers::add_to(snapshot);
    let snapshot = super::answers::add_to(snapshot);
    let snapshot = SERVICES.iter().fold(snapshot, |snapshot, (add_to, _)| add_to(snapshot));
    format!("{:#}", super::codes::add_to(snapshot).build())
}

/// Blocks whose identity the contract promises.
fn vectors() -> BTreeMap<String, String> {
    let blocks = [
        ("KB_V1/empty", r#"{}"#),
        (
            "KB_V1/practice",
            r#"{"type":"practice","domain":"software.testing","sources":[],"tier":"open",
            "payload":{"type":"practice","rationale":"Test what can fail.","contexts":[],
            "failureModes":[]}}"#,
        ),
    ];
    let mut hasher = KbHasher::new(HashOptions::default());
    let vectors = blocks.into_iter().map(|(name, envelope)| {
        let identified = hasher.identify(envelope.as_bytes());
        let kb_hash = identified.expect("the blocks are fixed and valid").kb_hash;
        (name.to_owned(), kb_hash.prefixed())
    });
    vectors.collect()
}
