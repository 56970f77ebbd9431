//! A server that says exactly the bytes it is told to, for answers that no HTTP library would produce.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// What to do after the request was read.
#[derive(Debug, Clone)]
pub(super) enum Say {
    Bytes(Vec<u8>),
    /// Wait until the client goes away.
    Silence,
}

pub(super) struct RawServer {
    address: SocketAddr,
    task: JoinHandle<Vec<u8>>,
}

impl RawServer {
    /// Serves one connection: reads one request, says `script`, and closes.
    pub(super) async fn start(script: Vec<Say>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let mut request = Vec::new();
            while !is_complete(&request) {
                let mut part = [0; 4_096];
                match stream.read(&mut part).await {
                    Ok(0) | Err(_) => break,
                    Ok(size) => request.extend_from_slice(&part[..size]),
                }
            }
            for say in script {
                match say {
                    Say::Bytes(bytes) => {
                        // A client that has heard enough may be gone already.
                        let _ = stream.write_all(&bytes).await;
                        let _ = stream.flush().await;
                    }
                    Say::Silence => {
                        let mut nothing = [0; 16];
                        let _ = tokio::time::timeout(Duration::from_secs(30), stream.read(&mut nothing)).await;
                    }
                }
            }
            request
        });
        Self { address, task }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The request that came, once the connection is done.
    pub(super) async fn request(self) -> String {
        String::from_utf8(self.task.await.unwrap()).unwrap()
    }
}

fn is_complete(request: &[u8]) -> bool {
    let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    request.len() >= end + 4 + length.unwrap_or(0)
}

/// A response with a status line, headers, and a body sent until the connection closes.
pub(super) fn response(status: &str, headers: &[&str], body: &str) -> Say {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    Say::Bytes(format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n{body}").into_bytes())
}
