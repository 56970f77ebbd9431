//! Tunnels: the name inside TLS, both directions' ends, and what else goes through.

use std::sync::Arc;

use retrace_sandbox::{How, Verdict};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::Notify;

use super::servers::{Server, TestAuthority, read_to_end};
use super::yard::{Names, Yard, allow, through_tunnel};

/// TLS inside an open tunnel, with or without a name.
fn tls(name: Option<&str>) -> String {
    let name = name.map_or("None".to_owned(), |name| format!("'{name}'"));
    format!(
        "context = ssl.create_default_context(cafile='ca.pem')\n\
         context.check_hostname = False\n\
         t = context.wrap_socket(s, server_hostname={name})\n\
         t.sendall(b'GET / HTTP/1.1\\r\\nHost: good.test\\r\\nConnection: close\\r\\n\\r\\n')\n\
         print(t.recv(1000).decode())"
    )
}

#[tokio::test]
async fn tls_must_ask_for_the_tunnels_name() {
    let authority = TestAuthority::new();
    let server = Server::https(&authority, &["good.test", "fine.test", "other.test"]).await;
    let yard = Yard::new(allow(&["good.test", "fine.test"], server.port, &Names::new())).await;
    yard.place.file("ca.pem", authority.pem());
    let good = format!("good.test:{}", server.port);
    let address = format!("127.0.0.1:{}", server.port);
    let same = yard.prints(&through_tunnel(&good, &tls(Some("GOOD.test")))).await;
    assert!(same.starts_with("HTTP/1.1 200"), "{same}");
    assert_eq!(yard.report().await.verdict, Verdict::Allowed);
    // Even one that is allowed itself: the tunnel was for another.
    for name in ["other.test", "fine.test"] {
        let (succeeded, said) = yard.run(&through_tunnel(&good, &tls(Some(name)))).await;
        assert!(!succeeded && said.contains("ACCESS_DENIED"), "{said}");
        let why = yard.refusal().await;
        assert!(why.contains("good.test asks for the server") && why.contains(name), "{why}");
    }
    let (succeeded, said) = yard.run(&through_tunnel(&good, &tls(None))).await;
    assert!(!succeeded && said.contains("ACCESS_DENIED"), "{said}");
    assert!(yard.refusal().await.contains("does not say in TLS which server"));
    // A listed address needs no name, and may only have one that is allowed.
    for name in [None, Some("good.test")] {
        let said = yard.prints(&through_tunnel(&address, &tls(name))).await;
        assert!(said.starts_with("HTTP/1.1 200"), "{said}");
        yard.report().await;
    }
    assert!(!yard.run(&through_tunnel(&address, &tls(Some("other.test")))).await.0);
    assert!(yard.refusal().await.contains("\"other.test:"));
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn a_greeting_in_pieces_or_cut_short_is_understood() {
    let authority = TestAuthority::new();
    let server = Server::https(&authority, &["good.test"]).await;
    let yard = Yard::new(allow(&["good.test"], server.port, &Names::new())).await;
    yard.place.file("ca.pem", authority.pem());
    let good = format!("good.test:{}", server.port);
    let pieces = "incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()\n\
        context = ssl.create_default_context(cafile='ca.pem')\n\
        t = context.wrap_bio(incoming, outgoing, server_hostname=NAME)\n\
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)\n\
        try: t.do_handshake()\n\
        except ssl.SSLWantReadError: pass\n\
        hello = outgoing.read()\n\
        for byte in hello[:LENGTH]: s.sendall(bytes([byte]))\n\
        if LENGTH < len(hello): s.shutdown(socket.SHUT_WR)\n\
        print(s.recv(100)[0])";
    let script = |name: &str, length: &str| {
        through_tunnel(&good, &pieces.replace("NAME", &format!("'{name}'")).replace("LENGTH", length))
    };
    // 22: the server's part of the handshake; 21: an alert, ours.
    assert_eq!(yard.prints(&script("good.test", "99999")).await.trim(), "22");
    yard.report().await;
    assert_eq!(yard.prints(&script("other.test", "99999")).await.trim(), "21");
    yard.refusal().await;
    assert_eq!(yard.prints(&script("good.test", "50")).await.trim(), "21");
    assert!(yard.refusal().await.contains("half a greeting"));
    let noise = "s.sendall(bytes([22, 3, 1]) + b'x' * 70000)\nprint(s.recv(100)[0])";
    assert_eq!(yard.prints(&through_tunnel(&good, noise)).await.trim(), "21");
    yard.refusal().await;
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn either_side_may_close_its_direction_first() {
    let server = Server::echo().await;
    let yard = Yard::new(allow(&["echo.test"], server.port, &Names::new())).await;
    let target = format!("echo.test:{}", server.port);
    let script = "s.sendall(b'all of it')\n\
        s.shutdown(socket.SHUT_WR)\n\
        print(rest().decode())";
    assert_eq!(yard.prints(&through_tunnel(&target, script)).await, "all of it\n");
    let report = yard.report().await;
    assert_eq!((report.how, report.verdict, report.cut), (How::Connect, Verdict::Allowed, None));
    assert_eq!((report.sent_bytes, report.received_bytes), (9, 9));

    let (hears, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::raw(move |mut stream| {
        let hears = hears.clone();
        async move {
            stream.write_all(b"a greeting").await.unwrap();
            stream.shutdown().await.unwrap();
            hears.send(read_to_end(&mut stream).await).unwrap();
        }
    })
    .await;
    let yard = Yard::new(allow(&["first.test"], server.port, &Names::new())).await;
    let script = "print(rest().decode())\n\
        s.sendall(b'an answer ')\n\
        s.sendall(b'in two parts')\n\
        s.close()";
    let target = format!("first.test:{}", server.port);
    assert_eq!(yard.prints(&through_tunnel(&target, script)).await, "a greeting\n");
    let report = yard.report().await;
    assert_eq!((report.sent_bytes, report.received_bytes), (22, 10), "{report:?}");
    // The report may come before the server has read to the end.
    assert_eq!(heard.recv().await.unwrap(), b"an answer in two parts");
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn a_reset_comes_through_in_both_directions() {
    let server = Server::raw(|mut stream| async move {
        // Not before the command has read all there is: a reset takes what is unread with it.
        let _ = tokio::io::AsyncReadExt::read_u8(&mut stream).await;
        rustix::net::sockopt::set_socket_linger(&stream, Some(std::time::Duration::ZERO)).unwrap();
    })
    .await;
    let yard = Yard::new(allow(&["rude.test"], server.port, &Names::new())).await;
    let target = format!("rude.test:{}", server.port);
    let script = "s.sendall(b'x')\ntry: print(s.recv(100))\nexcept ConnectionResetError: print('reset')";
    assert_eq!(yard.prints(&through_tunnel(&target, script)).await, "reset\n");
    assert!(yard.report().await.cut.is_some());

    let (tells, mut ends) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::raw(move |mut stream| {
        let tells = tells.clone();
        async move {
            let end = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut Vec::new()).await;
            tells.send(end.map_err(|error| error.kind())).unwrap();
        }
    })
    .await;
    let yard = Yard::new(allow(&["patient.test"], server.port, &Names::new())).await;
    let script =
        "s.sendall(b'x')\ns.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))\ns.close()";
    yard.prints(&through_tunnel(&format!("patient.test:{}", server.port), script)).await;
    assert!(yard.report().await.cut.is_some());
    assert_eq!(ends.recv().await.unwrap(), Err(std::io::ErrorKind::ConnectionReset));
    yard.sandbox.shutdown().await;
}

/// A server that notes when its connections end.
async fn watcher() -> (Server, Arc<Notify>, Arc<Notify>) {
    let (begun, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begin, end) = (Arc::clone(&begun), Arc::clone(&ended));
    let server = Server::raw(move |mut stream| {
        let (begin, end) = (Arc::clone(&begin), Arc::clone(&end));
        async move {
            begin.notify_one();
            read_to_end(&mut stream).await;
            end.notify_one();
        }
    })
    .await;
    (server, begun, ended)
}

#[tokio::test]
async fn a_connection_ends_with_its_command() {
    let (server, begun, ended) = watcher().await;
    let yard = Yard::new(allow(&["slow.test"], server.port, &Names::new())).await;
    for script in [
        through_tunnel(&format!("slow.test:{}", server.port), "s.recv(1)"),
        format!("curl -sS http://slow.test:{}/", server.port),
    ] {
        let request = retrace_sandbox::ExecRequest {
            env: vec![("RETRACE_CALL_ID".to_owned(), "toolu_killed".to_owned())],
            ..retrace_sandbox::ExecRequest::shell(script)
        };
        let running = yard.sandbox.exec(request).await.unwrap();
        begun.notified().await;
        running.kill();
        assert!(running.wait().await.unwrap().killed);
        ended.notified().await;
        let report = yard.report().await;
        assert_eq!(report.verdict, Verdict::Allowed, "{report:?}");
        assert_eq!(report.call.as_deref(), Some("toolu_killed"));
    }
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn connections_end_with_the_sandbox_and_are_told_by_then() {
    let (server, begun, ended) = watcher().await;
    let yard = Yard::new(allow(&["slow.test"], server.port, &Names::new())).await;
    let script = through_tunnel(&format!("slow.test:{}", server.port), "s.recv(1)");
    let _running = yard.sandbox.exec(retrace_sandbox::ExecRequest::shell(script)).await.unwrap();
    begun.notified().await;
    yard.sandbox.shutdown().await;
    ended.notified().await;
    let Some(retrace_sandbox::ConnectionEvent::One(report)) = yard.connections.try_next() else { panic!("no report") };
    assert!(report.verdict == Verdict::Allowed && report.cut.is_some(), "{report:?}");
    assert_eq!(yard.connections.next().await, None);

    // The same without a word, when nobody holds it any more.
    let yard = Yard::new(allow(&["slow.test"], server.port, &Names::new())).await;
    let script = through_tunnel(&format!("slow.test:{}", server.port), "s.recv(1)");
    let running = yard.sandbox.exec(retrace_sandbox::ExecRequest::shell(script)).await.unwrap();
    begun.notified().await;
    let connections = yard.connections.clone();
    drop((running, yard));
    ended.notified().await;
    assert!(connections.next().await.is_some());
    assert_eq!(connections.next().await, None);
}
