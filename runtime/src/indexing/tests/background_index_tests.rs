//! Work beside a session that outlasts the command.

use crate::indexing::background_index::on_thread;
use std::sync::mpsc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[test]
fn a_long_step_may_end_after_the_runtime_of_its_command() {
    let command = tokio::runtime::Runtime::new().unwrap();
    let (go_on, step) = mpsc::channel::<()>();
    let (done, outcome) = mpsc::channel();
    command.block_on(async {
        on_thread("test", CancellationToken::new(), async move {
            step.recv().unwrap();
            // A timer of any kind is looked at.
            let _ = tokio::time::timeout(Duration::ZERO, std::future::pending::<()>()).await;
            done.send(()).unwrap();
        });
    });
    command.shutdown_background();
    go_on.send(()).unwrap();
    outcome.recv().expect("it panicked");
}
