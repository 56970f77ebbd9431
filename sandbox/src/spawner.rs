//! One thread that starts all backend processes.
//!
//! The kernel's "die with parent" means the parent *thread*. Started from a thread of a pool, a sandbox would be
//! killed as soon as that thread is idle for too long; started from here, it dies with the program and not before.

use std::io;
use std::sync::mpsc;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

struct Order {
    command: Command,
    runtime: Handle,
    reply: oneshot::Sender<io::Result<Child>>,
}

/// Starts a process from the long-lived thread.
pub(crate) async fn spawn(command: Command) -> io::Result<Child> {
    let (reply, answer) = oneshot::channel();
    let order = Order { command, runtime: Handle::current(), reply };
    orders()?.send(order).map_err(|_| io::Error::other("the thread that starts processes is gone"))?;
    answer.await.map_err(|_| io::Error::other("the thread that starts processes is gone"))?
}

fn orders() -> io::Result<mpsc::Sender<Order>> {
    static ORDERS: OnceLock<Mutex<Option<mpsc::Sender<Order>>>> = OnceLock::new();
    let mut orders = ORDERS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(orders) = &*orders {
        return Ok(orders.clone());
    }
    let (sender, receiver) = mpsc::channel::<Order>();
    thread::Builder::new().name("retrace-spawner".to_owned()).spawn(move || {
        for Order { mut command, runtime, reply } in receiver {
            let _entered = runtime.enter();
            // When nobody waits any more, the child is dropped and thereby killed.
            let _ = reply.send(command.kill_on_drop(true).spawn());
        }
    })?;
    *orders = Some(sender.clone());
    Ok(sender)
}
