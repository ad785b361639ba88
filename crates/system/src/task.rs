//! Tasks of the asynchronous runtime. Futures and work are boxed, so that the code of a task, about
//! a hundred functions, is compiled once and not for each type.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use parking_lot::Mutex;
use tokio::task::{JoinError, JoinHandle};

/// Starts a task, which goes on when the handle is dropped. Panics outside a runtime.
pub fn spawn(future: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    spawn_boxed(Box::pin(future))
}

fn spawn_boxed(future: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()> {
    tokio::spawn(future)
}

/// Starts work that may wait, on a thread where it keeps no task from running. It goes on when the
/// returned future is dropped. Panics outside a runtime.
pub fn spawn_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Blocking<T> {
    let result = Arc::new(Mutex::new(None));
    let place = Arc::clone(&result);
    let handle = spawn_work(Box::new(move || {
        let done = work();
        *place.lock() = Some(done);
    }));
    Blocking { handle, result }
}

fn spawn_work(work: Box<dyn FnOnce() + Send>) -> JoinHandle<()> {
    tokio::task::spawn_blocking(work)
}

/// The result of [`spawn_blocking`]: an error if the work panicked or never began.
#[derive(Debug)]
pub struct Blocking<T> {
    handle: JoinHandle<()>,
    result: Arc<Mutex<Option<T>>>,
}

impl<T> Future for Blocking<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = ready!(Pin::new(&mut self.handle).poll(context));
        let result = self.result.lock().take();
        Poll::Ready(ended.map(|()| result.expect("work that ended has a result, taken once")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap()
    }

    #[test]
    fn work_returns_its_result_or_its_panic() {
        let (found, failed) = runtime().block_on(async {
            let failing = spawn_blocking(|| -> u8 { panic!("no such number") });
            (spawn_blocking(|| 7).await.unwrap(), failing.await.unwrap_err())
        });
        assert_eq!(found, 7);
        assert!(failed.is_panic() && failed.to_string().contains("no such number"), "{failed}");
    }

    #[test]
    fn work_and_tasks_go_on_when_nobody_waits() {
        let runtime = runtime();
        let (sender, receiver) = std::sync::mpsc::channel();
        let other = sender.clone();
        runtime.block_on(async move {
            drop(spawn_blocking(move || sender.send("work").unwrap()));
            drop(spawn(async move { other.send("task").unwrap() }));
        });
        let mut ended: Vec<_> = receiver.iter().take(2).collect();
        ended.sort_unstable();
        assert_eq!(ended, ["task", "work"]);
    }
}
