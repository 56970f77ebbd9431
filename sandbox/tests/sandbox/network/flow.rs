//! Much, slow, and many: flow control and bounds.

use retrace_sandbox::{ConnectionEvent, NetworkLimits, Verdict};
use tokio::io::AsyncWriteExt as _;

use super::servers::{Server, TestAuthority, large};
use super::yard::{Names, Yard, allow};
use crate::support::{Place, run};

#[tokio::test]
async fn large_bodies_arrive_as_they_were_sent_in_both_directions() {
    let authority = TestAuthority::new();
    let (plain, secure) = (Server::http().await, Server::https(&authority, &["large.test"]).await);
    let names = Names::new();
    for (server, scheme) in [(&plain, "http"), (&secure, "https")] {
        let yard = Yard::new(allow(&["large.test"], server.port, &names)).await;
        yard.place.file("ca.pem", authority.pem());
        yard.place.file("sent", large());
        let url = format!("{scheme}://large.test:{}", server.port);
        yard.prints(&format!("curl -sS --cacert ca.pem -o received {url}/large")).await;
        assert!(std::fs::read(yard.place.workspace().join("received")).unwrap() == large(), "{scheme} down");
        let report = yard.report().await;
        assert!(report.received_bytes > 50_000_000 && report.verdict == Verdict::Allowed, "{report:?}");
        // With a length and in chunks.
        for option in ["-H 'X: y'", "-H 'Transfer-Encoding: chunked'"] {
            let script = format!("curl -sS --cacert ca.pem {option} --data-binary @sent -o echoed {url}/echo");
            yard.prints(&script).await;
            assert!(std::fs::read(yard.place.workspace().join("echoed")).unwrap() == large(), "{scheme} {option}");
            let report = yard.report().await;
            assert!(report.sent_bytes > 50_000_000 && report.received_bytes > 50_000_000, "{report:?}");
        }
        assert!(server.seen().last().unwrap().body == large(), "{scheme} up");
        yard.sandbox.shutdown().await;
    }
}

#[tokio::test]
async fn a_slow_reader_holds_up_nobody_and_loses_nothing() {
    let server = Server::http().await;
    let yard = Yard::new(allow(&["large.test"], server.port, &Names::new())).await;
    let port = server.port;
    // Reads nothing until it is told to by the others' success.
    let script = format!(
        "import os, socket, time\n\
         s = socket.create_connection(('127.0.0.1', 3128))\n\
         s.sendall(b'GET http://large.test:{port}/large HTTP/1.1\\r\\nHost: large.test:{port}\\r\\n\\r\\n')\n\
         while not os.path.exists('go'): time.sleep(0.01)\n\
         total, last = 0, b''\n\
         while True:\n    part = s.recv(1 << 20)\n    if not part: break\n    total += len(part)\n    last = (last + part)[-4:]\n\
         print(total > 50_000_000, last.hex())"
    );
    let running = yard.sandbox.exec(retrace_sandbox::ExecRequest::argv(["python3", "-c", &script])).await.unwrap();
    while server.seen().is_empty() {
        tokio::task::yield_now().await;
    }
    for _ in 0..3 {
        assert!(yard.prints(&format!("curl -sS http://large.test:{port}/")).await.starts_with("hello"));
        assert!(yard.report().await.received_bytes < 1000, "the slow one ended");
    }
    yard.place.file("go", "");
    let output = running.output().await.unwrap();
    let tail = large()[large().len() - 4..].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), format!("True {tail}"));
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn many_connections_at_once_take_turns() {
    let server = Server::http().await;
    let limits = NetworkLimits { connections: 8, ..NetworkLimits::default() };
    let yard = Yard::new(allow(&["good.test"], server.port, &Names::new()).with_limits(limits)).await;
    let script = format!(
        "seq 60 | xargs -P 30 -I N curl -sS -o out.N http://good.test:{0}/N && cat out.* | sort | uniq -c | tr -s ' '",
        server.port
    );
    assert_eq!(yard.prints(&script).await, format!(" 60 hello from good.test:{}\n", server.port));
    for _ in 0..60 {
        assert_eq!(yard.report().await.verdict, Verdict::Allowed);
    }
    assert_eq!(yard.connections.try_next(), None);
    assert_eq!(server.seen().len(), 60);
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn there_are_places_for_more_connections_than_there_are_places() {
    let server = Server::http().await;
    let limits = NetworkLimits { connections: 256, ..NetworkLimits::default() };
    let yard = Yard::new(allow(&["good.test"], server.port, &Names::new()).with_limits(limits)).await;
    let port = server.port;
    // Nobody closes their side, so each holds its place for a while after its end.
    let script = format!(
        "import socket\n\
         kept = []\n\
         for _ in range(400):\n    s = socket.create_connection(('127.0.0.1', 3128), timeout=60)\n    kept.append(s)\n    \
         s.sendall(b'GET http://good.test:{port}/ HTTP/1.1\\r\\nHost: good.test:{port}\\r\\n\\r\\n')\n    \
         while s.recv(1000): pass\n\
         print(len(kept))"
    );
    let running = yard.sandbox.exec(retrace_sandbox::ExecRequest::argv(["python3", "-c", &script])).await.unwrap();
    let output = running.output().await.unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "400\n", "{}", String::from_utf8_lossy(&output.stderr));
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn a_connection_that_passes_its_limit_is_cut() {
    let server = Server::http().await;
    let limits = NetworkLimits { connection_bytes: 1_000_000, ..NetworkLimits::default() };
    let yard = Yard::new(allow(&["large.test"], server.port, &Names::new()).with_limits(limits)).await;
    let (succeeded, _) = yard.run(&format!("curl -sS -o large http://large.test:{}/large", server.port)).await;
    assert!(!succeeded);
    let report = yard.report().await;
    assert_eq!(report.verdict, Verdict::Allowed);
    assert!(report.cut.unwrap().contains("its limit of 1000000 bytes"));
    assert!(report.received_bytes < 2_000_000);
    // Others have their own.
    assert!(yard.run(&format!("curl -sS http://large.test:{}/", server.port)).await.0);
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn a_session_that_has_used_up_its_bytes_gets_no_more() {
    let server = Server::http().await;
    let limits = NetworkLimits { session_bytes: 1_000_000, ..NetworkLimits::default() };
    let yard = Yard::new(allow(&["large.test"], server.port, &Names::new()).with_limits(limits)).await;
    let url = format!("http://large.test:{}", server.port);
    assert!(yard.run(&format!("curl -sS {url}/")).await.0);
    yard.report().await;
    assert!(!yard.run(&format!("curl -sS -o large {url}/large")).await.0);
    assert!(yard.report().await.cut.unwrap().contains("used up"));
    let said = yard.prints(&format!("curl -sS {url}/")).await;
    assert!(said.contains("have used up their 1000000 bytes"), "{said}");
    assert!(yard.refusal().await.contains("used up"));
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn a_connection_on_which_nothing_moves_is_closed() {
    let server = Server::raw(|mut stream| async move {
        stream.write_all(b"x").await.unwrap();
        std::future::pending::<()>().await;
    })
    .await;
    let limits = NetworkLimits { idle_ms: 300, ..NetworkLimits::default() };
    let yard = Yard::new(allow(&["quiet.test"], server.port, &Names::new()).with_limits(limits)).await;
    // Nothing is expected to be read in time: a reset takes what is unread with it.
    let script = format!(
        "import socket\n\
         s = socket.create_connection(('127.0.0.1', 3128))\n\
         s.sendall(b'CONNECT quiet.test:{} HTTP/1.1\\r\\n\\r\\n')\n\
         try:\n    while s.recv(100): pass\n\
         except ConnectionResetError: print('reset')",
        server.port
    );
    let request = retrace_sandbox::ExecRequest::argv(["python3", "-c", &script]);
    assert_eq!(run(&yard.sandbox, request).await.stdout, b"reset\n");
    assert!(yard.report().await.cut.unwrap().contains("nothing moved for 300 ms"));
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_named() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let yard = Yard::new(allow(&["gone.test"], port, &Names::new())).await;
    let said = yard.prints(&format!("curl -sS http://gone.test:{port}/")).await;
    assert!(said.contains("cannot connect to gone.test") && said.contains("refused"), "{said}");
    let report = yard.report().await;
    assert!(matches!(report.verdict, Verdict::Failed { .. }), "{report:?}");
    // One that answers with something else than HTTP.
    let server = Server::raw(|mut stream| async move {
        let _ = stream.write_all(b"SSH-2.0-x\r\n\r\n").await;
    })
    .await;
    let yard = Yard::new(allow(&["odd.test"], server.port, &Names::new())).await;
    let said = yard.prints(&format!("curl -sS http://odd.test:{}/", server.port)).await;
    assert!(said.contains("the exchange with the server failed"), "{said}");
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn a_flood_of_connections_is_counted_and_harms_nobody() {
    let yard = Yard::on(Place::new(), allow(&["good.test"], 1, &Names::new())).await;
    let script = "import socket\n\
        for n in range(1500):\n\
        \x20   s = socket.create_connection(('127.0.0.1', 3128))\n\
        \x20   s.sendall(b'GET http://evil.test/ HTTP/1.0\\r\\n\\r\\n')\n\
        \x20   while s.recv(10000): pass\n\
        \x20   s.close()";
    let request = retrace_sandbox::ExecRequest::argv(["python3", "-c", script]);
    assert!(run(&yard.sandbox, request).await.result.succeeded());
    let (mut one, mut many) = (0, 0);
    while one + many < 1500 {
        match yard.connections.next().await {
            Some(ConnectionEvent::One(_)) => one += 1,
            Some(ConnectionEvent::Many(count)) => many += count.refused,
            None => panic!("it ended"),
        }
    }
    assert!(one + many == 1500 && many > 0, "{one} {many}");
    yard.sandbox.shutdown().await;
}
