//! A TCP proxy between client and server that can lose what the server says.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

#[derive(Default)]
struct Switches {
    /// The next ack is lost.
    armed: AtomicBool,
    /// And the connection with it.
    breaks: AtomicBool,
    lost: AtomicUsize,
}

/// A proxy in front of a server.
pub(crate) struct Proxy {
    switches: Arc<Switches>,
    port: u16,
}

impl Proxy {
    /// In front of the server on `port` of this machine.
    pub(crate) async fn before(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own_port = listener.local_addr().unwrap().port();
        let switches = Arc::new(Switches::default());
        let shared = Arc::clone(&switches);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)).await else { continue };
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                let up = tokio::spawn(pass(from_client, to_server, None));
                let down = tokio::spawn(pass(from_server, to_client, Some(Arc::clone(&shared))));
                // When either side ends, so does the other.
                tokio::spawn(async move {
                    let (up_end, down_end) = (up.abort_handle(), down.abort_handle());
                    let _ = futures::future::select(up, down).await;
                    up_end.abort();
                    down_end.abort();
                });
            }
        });
        Self { switches, port: own_port }
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Loses the next ack: the server has stored the message, the client's connection breaks before it hears of it.
    pub(crate) fn lose_next_ack(&self) {
        self.switches.breaks.store(true, Ordering::SeqCst);
        self.switches.armed.store(true, Ordering::SeqCst);
    }

    /// Loses the next ack, while the connection stays: the client hears nothing, and waits.
    pub(crate) fn swallow_next_ack(&self) {
        self.switches.armed.store(true, Ordering::SeqCst);
    }

    /// How many acks were lost.
    pub(crate) fn lost(&self) -> usize {
        self.switches.lost.load(Ordering::SeqCst)
    }
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, switches: Option<Arc<Switches>>) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count) = from.read(&mut buffer).await {
        if count == 0 {
            return;
        }
        let bytes = &buffer[..count];
        if let Some(switches) = &switches {
            let is_ack = contains(bytes, br#"{"stream":"retrace""#) && contains(bytes, br#""seq":"#);
            if is_ack && switches.armed.swap(false, Ordering::SeqCst) {
                switches.lost.fetch_add(1, Ordering::SeqCst);
                if switches.breaks.swap(false, Ordering::SeqCst) {
                    return;
                }
                continue;
            }
        }
        if to.write_all(bytes).await.is_err() {
            return;
        }
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
