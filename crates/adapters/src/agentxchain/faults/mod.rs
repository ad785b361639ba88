//! AgentXchain with one thing wrong at a time.
//!
//! Most faults change what the engine is given, so that it decides as an engine without the rule would; the
//! others change what it says.

mod bundles;
mod coordinator;
mod gates;
mod hooks;
mod records;
mod results;
mod runs;
mod tools;

use crate::faults::faults;

faults! {
    "any-config-starts" breaks "AX-SM-START-CONFIG": runs::any_config_starts;
    "any-run-initialized" breaks "AX-SM-START-IDLE": runs::any_run_initialized;
    "paused-run-assigns" breaks "AX-SM-ASSIGN": runs::paused_run_assigns;
    "approval-of-nothing" breaks "AX-SM-APPROVE": runs::approval_of_nothing;
    "escalation-of-any-run" breaks "AX-SM-BLOCK": runs::escalation_of_any_run;
    "status-set-by-name" breaks "AX-SM-ILLEGAL": runs::status_set_by_name;
    "run-id-replaced" breaks "AX-SM-RUN-ID": runs::run_id_replaced;
    "resolution-passes-gate" breaks "AX-SM-RESOLVE-GATE": runs::resolution_passes_gate;
    "any-action-resolves" breaks "AX-SM-RESOLVE": runs::any_action_resolves;

    "capacity-ignored" breaks "AX-PT-CAPACITY": runs::capacity_ignored;
    "five-turns-at-once" breaks "AX-PT-RANGE": runs::five_turns_at_once;
    "gate-undeclared" breaks "AX-CS-GATE": runs::gate_undeclared;
    "any-version" breaks "AX-CS-VERSION": runs::any_version;

    "challenge-waived" breaks "AX-TR-CHALLENGE": results::challenge_waived;
    "reserved-by-spelling" breaks "AX-TR-RESERVED-SPELLING": results::reserved_by_spelling;
    "paths-may-leave" breaks "AX-TR-INSIDE": results::paths_may_leave;
    "both-requests" breaks "AX-TR-ONE-REQUEST": results::both_requests;
    "evidence-unread" breaks "AX-TR-EVIDENCE": results::evidence_unread;
    "stage-after-it" breaks "AX-TR-STAGES": results::stage_after_it;
    "other-turns-result" breaks "AX-TR-TURN-ID": results::other_turns_result;
    "corrected-when-strict" breaks "AX-STRICT-DECISION-ID": results::corrected_when_strict;

    "six-delegations" breaks "AX-DEL-LIMIT": results::six_delegations;
    "delegated-to-itself" breaks "AX-DEL-SELF": results::delegated_to_itself;
    "decision-required-twice" breaks "AX-DEL-DECISIONS-UNIQUE": results::decision_required_twice;
    "any-durability" breaks "AX-DC-DURABILITY": results::any_durability;
    "overrides-itself" breaks "AX-DC-SELF": results::overrides_itself;
    "authority-ignored" breaks "AX-DC-AUTHORITY": records::authority_ignored;
    "override-of-unknown" breaks "AX-DC-OVERRIDE-ACCEPT": records::override_of_unknown;

    "human-not-asked" breaks "AX-GATE-HUMAN": gates::human_not_asked;
    "verification-not-asked" breaks "AX-GATE-VERIFICATION": gates::verification_not_asked;
    "missing-file-passes" breaks "AX-GATE-FILES": gates::missing_file_passes;
    "last-signoff-counts" breaks "AX-GATE-SIGNOFF": gates::last_signoff_counts;
    "failed-rows-unread" breaks "AX-GATE-MATRIX": gates::failed_rows_unread;
    "ends-in-any-phase" breaks "AX-GATE-FINAL-PHASE": gates::ends_in_any_phase;

    "duplicate-appended" breaks "AX-DL-DUPLICATE": records::duplicate_appended;
    "any-category" breaks "AX-DL-CATEGORY": records::any_category;
    "refused-and-appended" breaks "AX-DL-STATEMENT": records::refused_and_appended;
    "used-id-accepted" breaks "AX-DL-DUPLICATE-ACCEPT": records::used_id_accepted;
    "history-doubled" breaks "AX-HS-APPEND": records::history_doubled;
    "sequence-restarts" breaks "AX-HS-SEQUENCE": records::sequence_restarts;
    "accepted-twice" breaks "AX-HS-ONCE": records::accepted_twice;

    "run-id-not-needed" breaks "AX-EV-RUN-ID": records::run_id_not_needed;
    "time-goes-back" breaks "AX-EV-MONOTONIC": records::time_goes_back;
    "never-dispatched" breaks "AX-EV-DISPATCHED": records::never_dispatched;

    "digest-not-compared" breaks "AX-DM-DIGEST": bundles::digest_not_compared;
    "stranger-unnoticed" breaks "AX-DM-UNEXPECTED": bundles::stranger_unnoticed;
    "first-violation-only" breaks "AX-DM-ACCUMULATE": bundles::first_violation_only;
    "lists-itself" breaks "AX-DM-SELF": bundles::lists_itself;

    "advisory-blocks" breaks "AX-HK-DOWNGRADE": hooks::advisory_blocks;
    "tamper-unnoticed" breaks "AX-HK-TAMPER": hooks::tamper_unnoticed;
    "skipped-unrecorded" breaks "AX-HK-SKIP": hooks::skipped_unrecorded;
    "time-limit-ignored" breaks "AX-HK-TIMEOUT": hooks::time_limit_ignored;
    "hooks-reversed" breaks "AX-HK-ORDER": hooks::hooks_reversed;
    "environment-empty" breaks "AX-HK-ENVIRONMENT": hooks::environment_empty;

    "circle-accepted" breaks "AX-CO-CYCLE": coordinator::circle_accepted;
    "first-satisfies" breaks "AX-CO-FIRST": coordinator::first_satisfies;
    "writes-anywhere" breaks "AX-CO-ISOLATION": coordinator::writes_anywhere;
    "people-not-awaited" breaks "AX-CO-HUMAN": coordinator::people_not_awaited;
    "named-decisions-unread" breaks "AX-CO-NAMED": coordinator::named_decisions_unread;
    "order-ignored" breaks "AX-CO-ORDERED": coordinator::order_ignored;
}
