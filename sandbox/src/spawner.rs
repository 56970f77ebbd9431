//! One thread that starts all backend processes.
//!
//! The kernel's "die with parent" means the parent *thread*. Started from a thread of a pool, a sandbox would be
//! killed as soon as that thread is idle for too long; started from here, it dies with the program and not before.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use rustix::io::FdFlags;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

struct Order {
    command: Command,
    inherited: Vec<OwnedFd>,
    runtime: Handle,
    reply: oneshot::Sender<io::Result<Child>>,
}

/// Starts a process from the long-lived thread; it gets `inherited` under the same numbers.
pub(crate) async fn spawn(command: Command, inherited: Vec<OwnedFd>) -> io::Result<Child> {
    let (reply, answer) = oneshot::channel();
    let order = Order { command, inherited, runtime: Handle::current(), reply };
    orders()?.send(order).map_err(|_| io::Error::other("the thread that starts processes is gone"))?;
    answer.await.map_err(|_| io::Error::other("the thread that starts processes is gone"))?
}

/// Marked here and not in the child, since a closure to run there would make every start a slow `fork` of a program
/// that may be large. A process that another thread starts in this moment gets a copy; what is handed over (data for
/// bubblewrap, a pipe for its report) is chosen so that this is harmless.
fn start(mut command: Command, inherited: Vec<OwnedFd>) -> io::Result<Child> {
    for file in &inherited {
        rustix::io::fcntl_setfd(file, FdFlags::empty())?;
    }
    let child = command.kill_on_drop(true).spawn();
    drop(inherited);
    child
}

fn orders() -> io::Result<mpsc::Sender<Order>> {
    static ORDERS: OnceLock<Mutex<Option<mpsc::Sender<Order>>>> = OnceLock::new();
    let mut orders = ORDERS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(orders) = &*orders {
        return Ok(orders.clone());
    }
    let (sender, receiver) = mpsc::channel::<Order>();
    thread::Builder::new().name("retrace-spawner".to_owned()).spawn(move || {
        for Order { command, inherited, runtime, reply } in receiver {
            let _entered = runtime.enter();
            // When nobody waits any more, the child is dropped and thereby killed.
            let _ = reply.send(start(command, inherited));
        }
    })?;
    *orders = Some(sender.clone());
    Ok(sender)
}
