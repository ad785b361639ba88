//! Packages: deposit and pull.

use accord_api::Call;
use accord_contract::{Value, Wire as _};
use accord_memory::{DepositOptions, PackagePage, Score, Served};
use accord_memory_core::operations::{
    Deposit, ListReviews, PullPackages, ReadPackage, WriteHeaders,
};
use accord_memory_core::query::{Latest, Pull};
use accord_memory_core::{PackageId, Warning};
use accord_serving::operation::serve_response;
use axum::response::Response;
use hyper::StatusCode;
use serde_json::json;

use super::answer::{self, List};
use crate::{Context, Exchange, Route};
use accord_serving::Reply;

pub fn routes() -> Vec<Route> {
    vec![
        serve_response(deposit),
        serve_response(pull),
        serve_response(reviews),
        serve_response(specific),
    ]
}

/// Clauses: AGENTIC-A-27.
async fn deposit(asked: Exchange, call: Call<Deposit>) -> Reply {
    let (Context { host, caller, .. }, project) = (asked.context, call.path.project);
    let WriteHeaders { allow_credentials, complete_ids } = super::write_headers(&asked.headers)?;
    let options =
        DepositOptions { mint: call.query.mint, flow: call.query.flow, allow_credentials };
    let sent = match complete_ids {
        true => host.memory().with_whole_ids(&caller, &project, asked.body).await?,
        false => asked.body,
    };
    let deposited = host.memory().deposit(&caller, &project, sent, options).await?;
    let status = if deposited.new { StatusCode::CREATED } else { StatusCode::OK };
    let response = answer::package(status, deposited.package);
    Ok(accord_serving::reply::naming_new(response, deposited.new_project, &project))
}

async fn pull(asked: Exchange, call: Call<PullPackages>) -> Reply {
    let (Context { host, caller, .. }, project) = (asked.context, call.path.project);
    let memory = host.memory();
    match Pull::of(call.query, &project)? {
        Pull::Latest(wanted) => {
            let page = memory.latest(&caller, &project, wanted).await?;
            Ok(list(&page))
        }
        Pull::Relevant(wanted) => {
            let page = memory.relevant(&caller, &project, wanted).await?;
            let scores = page.scores.iter().map(|Score { package_id, score, matched }| {
                let id = package_id.as_str();
                let mut score = json!({"package_id": id, "score": score, "matched": matched});
                if let Some(by) = page.superseded.get(package_id) {
                    score["superseded_by"] = by.iter().map(PackageId::as_str).collect();
                }
                score
            });
            let mut list = List::new("packages", texts(&page.packages))
                .with("next_cursor", Value::Null)
                .with("scores", scores.collect::<Value>())
                .with("x-search", page.searched.as_str())
                .without(&page.damaged)
                .marked(&page.superseded)
                .reviewed(&page.reviews);
            if !page.ignored.is_empty() {
                list = list.with("x-ignored_words", page.ignored);
            }
            if !page.warnings.is_empty() {
                let warnings: Vec<Value> = page.warnings.iter().map(Warning::encode).collect();
                list = list.with("warnings", warnings);
            }
            Ok(list.answer())
        }
        Pull::Specific(id) => {
            let pulled = memory.package(&caller, Some(project), id).await?;
            Ok(answer::package_unless_known(&asked.headers, pulled))
        }
    }
}

async fn reviews(asked: Exchange, call: Call<ListReviews>) -> Reply {
    let (Context { host, caller, .. }, project) = (asked.context, call.path.project);
    let wanted = Latest::reviews(call.query, &project)?;
    let page = host.memory().latest(&caller, &project, wanted).await?;
    Ok(list(&page))
}

async fn specific(asked: Exchange, call: Call<ReadPackage>) -> Reply {
    let Context { host, caller, .. } = asked.context;
    let pulled = host.memory().package(&caller, call.query.project, call.path.package).await?;
    Ok(answer::package_unless_known(&asked.headers, pulled))
}

fn list(page: &PackagePage) -> Response {
    List::new("packages", texts(&page.packages))
        .with("next_cursor", page.next_cursor.as_deref())
        .budgeted(page.budgeted.as_ref())
        .without(&page.damaged)
        .marked(&page.superseded)
        .reviewed(&page.reviews)
        .answer()
}

fn texts(packages: &[Served]) -> impl Iterator<Item = &str> {
    packages.iter().map(|package| package.text.as_str())
}
