//! Child processes as groups, with limits on time and output.
//!
//! This crate runs the programs of others: kit adapters, hooks, agent runtimes.
//!
//! Invariants:
//! - A command is a list of arguments. No shell is started.
//! - Every child leads a process group of its own. The whole group gets SIGKILL when the time limit
//!   passes, when the leader has ended, and when its owner is dropped. A process that left the
//!   group on purpose (`setsid`) is out of reach, but cannot make a caller wait: open pipes are not
//!   waited for once the leader has ended.
//! - A worker is started by a launcher, which ends what it leaves behind, too.
//! - The leader is reaped only after its group was killed, so the group's id cannot have been
//!   reused.
//! - Memory is bounded by the caller's limits, however much the child prints.
//! - No thread is started: one `poll(2)` loop serves stdin, stdout, stderr and the end of the
//!   leader.
//!
//! ```
//! use std::time::Duration;
//!
//! use accord_process::{Invocation, Spec, run};
//!
//! let spec = Spec::new(Invocation::new("sh", ["-c", "sleep 60"]));
//! let outcome = run(&spec.time_limit(Duration::from_millis(50)))?;
//! assert!(outcome.timed_out);
//! # Ok::<(), accord_process::StartError>(())
//! ```

#![cfg(unix)]
#![expect(
    clippy::disallowed_methods,
    reason = "running processes under a clock is what this crate is for"
)]

mod ancestry;
mod cancel;
mod conversation;
mod cpu_time;
mod descendants;
mod error;
mod group;
mod hidden;
mod invocation;
mod keep;
mod kept;
mod launcher;
mod limits;
mod lines;
mod live;
mod namespace;
mod procfs;
mod record;
mod run;
mod sandbox;
mod session;
mod sockets;
mod supervisor;
mod table;
mod watch;
mod work_tree;

pub use ancestry::{AncestorProcess, Lineage, RunningProcess, ancestors, os_user};
pub use cancel::Cancel;
pub use conversation::{Conversation, SessionLimits};
pub use cpu_time::group_cpu_time;
pub use error::{SessionError, StartError};
pub use group::Ending;
pub use hidden::hide_from_workers;
pub use invocation::{Invocation, find_outside};
pub use kept::keep_after_workers;
pub use launcher::{LaunchOptions, end_by, launch, set_launcher};
pub use limits::{limit_file_size, open_file_limit, raise_open_file_limit};
pub use live::{end_all, end_group};
pub use record::{Work, WorkerProcess, worker_processes};
pub use run::{Overflow, RunOutput, Spec, run, run_watched};
pub use sandbox::{
    Attempt, Confinement, ExpectedMounts, GitAccess, Guards, Rights, SHOW_DIFFERENCE, Sandbox,
    SandboxMode, SandboxRules, is_followed, is_git_state, is_shared_git_state, note_data_folder,
    restrict, user_state_folder, verify_mounts,
};
pub use session::Session;
pub use sockets::{SocketOwners, tcp_owners};
pub use supervisor::supervise;
pub use table::{Process, TICKS_PER_SECOND};
pub use watch::{Watch, WatchDecision};
pub use work_tree::{GitFolder, MainTree};
