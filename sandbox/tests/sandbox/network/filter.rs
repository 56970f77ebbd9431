//! What is let through and what is not, with the programs that people use.

use std::net::TcpListener;

use retrace_sandbox::{AllowList, How, Limits, Network, Policy, Sandbox, SandboxChoice, SandboxError, Verdict};

use super::servers::{Server, TestAuthority};
use super::yard::{Names, Yard, allow, raw};
use crate::support::{Place, as_root, prints, run, text};

/// A Python program that fetches a page.
fn urllib(url: &str) -> String {
    format!("python3 -c \"import urllib.request; print(urllib.request.urlopen('{url}').read().decode(), end='')\"")
}

#[tokio::test]
async fn an_allowed_domain_is_reached_over_http() {
    let server = Server::http().await;
    let names = Names::new();
    let yard = Yard::new(allow(&["good.test", "*.below.test"], server.port, &names)).await;
    let port = server.port;
    let hello = format!("hello from good.test:{port}\n");
    assert_eq!(yard.prints(&format!("curl -sS http://good.test:{port}/page?x=1")).await, hello);
    let report = yard.report().await;
    assert_eq!((report.host.as_str(), report.port, report.how), ("good.test", port, How::Http));
    assert_eq!((&report.verdict, &report.cut, &report.credential), (&Verdict::Allowed, &None, &None));
    assert!(report.sent_bytes > 0 && report.received_bytes > hello.len() as u64, "{report:?}");
    assert_eq!(yard.prints(&urllib(&format!("http://GOOD.test:{port}/"))).await, hello);
    assert_eq!(
        yard.prints(&format!("curl -sS http://a.b.below.test:{port}/")).await,
        format!("hello from a.b.below.test:{port}\n")
    );
    let seen = server.seen();
    assert_eq!(seen[0].uri, "/page?x=1");
    for name in ["proxy-connection", "connection", "via", "forwarded"] {
        assert!(seen.iter().all(|seen| seen.header(name).is_empty()), "{name}");
    }
    let url = format!("http://good.test:{port}/echo");
    let posted = yard.prints(&format!("curl -sS -d 'a body' {url}; echo; curl -sSI {url}")).await;
    assert!(posted.starts_with("a body\n") && posted.contains("200 OK"), "{posted}");
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn an_allowed_domain_is_reached_over_https() {
    let authority = TestAuthority::new();
    let server = Server::https(&authority, &["good.test"]).await;
    let names = Names::new();
    let yard = Yard::new(allow(&["good.test"], server.port, &names)).await;
    yard.place.file("ca.pem", authority.pem());
    let port = server.port;
    let hello = format!("hello from good.test:{port}\n");
    assert_eq!(yard.prints(&format!("curl -sS --cacert ca.pem https://good.test:{port}/")).await, hello);
    let report = yard.report().await;
    assert_eq!((report.host.as_str(), report.port, report.how), ("good.test", port, How::Connect));
    assert_eq!(report.verdict, Verdict::Allowed);
    // curl does not wait for TLS's own goodbye: whether the kernel then resets the connection is a matter of chance.
    assert!(report.cut.is_none_or(|cut| cut == "connection reset"));
    let python = format!("SSL_CERT_FILE=ca.pem {}", urllib(&format!("https://good.test:{port}/")));
    assert_eq!(yard.prints(&python).await, hello);
    // Without the test's certificate nothing has changed about whom commands trust.
    assert!(!yard.run(&format!("curl -sS https://good.test:{port}/")).await.0);
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn git_clones_through_it() {
    let source = tempfile::tempdir().unwrap();
    let script = "git init -q -b main . && git config user.email a@b && git config user.name a && echo text > file && \
        git add file && git commit -qm one && git update-server-info";
    assert!(std::process::Command::new("sh").args(["-c", script]).current_dir(&source).status().unwrap().success());
    let root = source.path().join(".git");
    let server = Server::raw(move |mut stream| {
        let root = root.clone();
        async move { serve_files(&mut stream, &root).await }
    })
    .await;
    let names = Names::new();
    let yard = Yard::new(allow(&["git.test"], server.port, &names)).await;
    let script = format!("git clone -q http://git.test:{}/ clone && cat clone/file", server.port);
    assert_eq!(yard.prints(&script).await, "text\n");
    let (succeeded, said) = yard.run("git clone -q http://other.test/ other").await;
    assert!(!succeeded && said.contains("403"), "{said}");
    yard.sandbox.shutdown().await;
}

/// The files of a folder, one for each connection.
async fn serve_files(stream: &mut tokio::net::TcpStream, root: &std::path::Path) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap().split('?').next().unwrap().trim_start_matches('/').to_owned();
    let answer = match std::fs::read(root.join(path)) {
        Ok(bytes) => {
            [format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", bytes.len()).into_bytes(), bytes].concat()
        }
        Err(_) => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
    };
    let _ = stream.write_all(&answer).await;
    let _ = stream.shutdown().await;
}

#[tokio::test]
async fn what_is_not_listed_is_refused_in_words() {
    let server = Server::http().await;
    let names = Names::new();
    let yard = Yard::new(allow(&["good.test"], server.port, &names)).await;
    let port = server.port;
    let said = yard.prints(&format!("curl -sS http://evil.test:{port}/")).await;
    assert!(said.contains(&format!("\"evil.test:{port}\" is not on the allow-list")), "{said}");
    assert!(said.contains("the setting \"network\"") && said.lines().count() == 1, "{said}");
    assert!(yard.refusal().await.contains("not on the allow-list"));
    assert_eq!(yard.prints(&format!("curl -s -o /dev/null -w '%{{http_code}}' http://evil.test:{port}/")).await, "403");
    yard.refusal().await;
    let (succeeded, said) = yard.run("curl -sS https://evil.test/").await;
    assert!(!succeeded && said.contains("403"), "{said}");
    let report = yard.report().await;
    assert_eq!((report.host.as_str(), report.port, report.how), ("evil.test", 443, How::Connect));
    // Programs that show the reason behind the status show ours.
    let (succeeded, said) = yard.run(&urllib("https://evil.test/")).await;
    assert!(!succeeded && said.contains("\"evil.test\" is not on the allow-list"), "{said}");
    yard.refusal().await;
    // Another port of an allowed domain.
    for url in ["http://good.test/", "http://good.test:22/"] {
        let said = yard.prints(&format!("curl -sS {url}")).await;
        assert!(said.contains("of good.test is not allowed, although other ports are"), "{said}");
        yard.refusal().await;
    }
    assert_eq!(server.accepted(), 0);
    assert_eq!(names.asked(), Vec::<String>::new(), "nothing is looked up for what is refused");
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn there_is_no_way_but_through_it() {
    let server = Server::http().await;
    let names = Names::new();
    let yard = Yard::new(allow(&["good.test"], server.port, &names)).await;
    let port = server.port;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let other = listener.local_addr().unwrap().port();
    for script in [
        format!("curl -sS --noproxy '*' --max-time 20 http://good.test:{port}/"),
        format!("curl -sS --noproxy '*' --max-time 20 http://127.0.0.1:{port}/"),
        format!("exec 3<>/dev/tcp/127.0.0.1/{port}"),
        format!("exec 3<>/dev/tcp/127.0.0.1/{other}"),
        "exec 3<>/dev/tcp/192.0.2.1/80".to_owned(),
        "exec 3<>/dev/udp/192.0.2.1/53 && echo x >&3".to_owned(),
        "getent hosts good.test".to_owned(),
    ] {
        assert!(!yard.run(&script).await.0, "{script}");
    }
    // Through the proxy, the host's loopback is what it is: not listed.
    for url in [
        format!("http://127.0.0.1:{other}/"),
        format!("http://localhost:{other}/"),
        format!("http://[::1]:{other}/"),
        "http://127.0.0.1:3128/".to_owned(),
    ] {
        let said = yard.prints(&format!("curl -gsS --noproxy '' {url}")).await;
        assert!(said.contains("not on the allow-list") || said.contains("not allowed, although"), "{url}: {said}");
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "someone came through");
    assert_eq!(prints(&yard.sandbox, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '").await, "lo");
    let isolated = yard.sandbox.proofs().iter().find(|proof| proof.name == "no network interface").unwrap();
    assert!(isolated.passed && isolated.detail == "only loopback", "{isolated:?}");
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn a_name_that_leads_to_the_host_or_its_neighbours_is_refused() {
    let server = Server::http().await;
    let port = server.port;
    let names = Names::new();
    // The names are listed; only one address is.
    let list = AllowList::parse([format!("*.test:{port}").replace("*.test", "*.in.test"), "127.0.0.2".to_owned()]);
    let yard = Yard::new(list.unwrap().with_resolver(names.clone())).await;
    for address in
        ["127.0.0.1", "169.254.169.254", "10.0.0.1", "0.0.0.0", "::1", "::ffff:127.0.0.1", "fe80::1", "64:ff9b::7f00:1"]
    {
        names.answer("a.in.test", &[&[address]]);
        let said = yard.prints(&format!("curl -sS http://a.in.test:{port}/")).await;
        assert!(said.contains(" leads to "), "{address}: {said}");
        assert!(yard.refusal().await.contains("adding"), "{address}");
        let (succeeded, said) = yard.run(&format!("curl -sS https://a.in.test:{port}/")).await;
        assert!(!succeeded && said.contains("403"), "{said}");
        yard.refusal().await;
    }
    let said = yard.prints("curl -sS http://169.254.169.254/latest/meta-data/").await;
    assert!(said.contains("\"169.254.169.254\" is not on the allow-list"), "{said}");
    for odd in ["http://2852039166/", "http://0xa9fea9fe/", "http://[::ffff:169.254.169.254]/"] {
        // Some of these curl itself makes plain.
        let said = yard.prints(&format!("curl -gsS {odd}")).await;
        assert!(said.contains("connection refused"), "{odd}: {said}");
    }
    let said = yard.prints(&raw("GET http://2852039166/ HTTP/1.1\\r\\nHost: 2852039166\\r\\n\\r\\n")).await;
    assert!(said.contains("400") && said.contains("not a plain IPv4 address"), "{said}");
    assert_eq!(server.accepted(), 0);
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn the_address_that_was_checked_is_the_one_that_is_connected_to() {
    let server = Server::http().await;
    let port = server.port;
    let names = Names::new();
    let yard = Yard::new(allow(&["good.test"], port, &names)).await;
    // The next answer is another one, as with DNS rebinding.
    names.answer("good.test", &[&["127.0.0.1"], &["169.254.169.254"]]);
    assert!(yard.prints(&format!("curl -sS http://good.test:{port}/")).await.starts_with("hello"));
    assert_eq!(names.asked(), ["good.test"], "it was asked once");
    assert!(yard.prints(&format!("curl -sS http://good.test:{port}/")).await.contains("link-local"));
    // Of several, those that may be are used.
    names.answer("good.test", &[&["169.254.169.254", "127.0.0.1"]]);
    assert!(yard.prints(&format!("curl -sS http://good.test:{port}/")).await.starts_with("hello"));
    names.answer("good.test", &[&[]]);
    let said = yard.prints(&format!("curl -sS http://good.test:{port}/")).await;
    assert!(said.contains("cannot find the address of good.test"), "{said}");
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn requests_that_say_two_things_are_refused() {
    let server = Server::http().await;
    let port = server.port;
    let names = Names::new();
    let yard = Yard::new(allow(&["good.test"], port, &names)).await;
    let good = format!("http://good.test:{port}/echo");
    let host = format!("Host: good.test:{port}");
    for (request, expected) in [
        (format!("GET {good} HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n"), "its Host header says"),
        (format!("GET {good} HTTP/1.1\\r\\nHost: good.test\\r\\n\\r\\n"), "its Host header says"),
        (format!("GET {good} HTTP/1.1\\r\\n{host}\\r\\n{host}\\r\\n\\r\\n"), "its Host header says"),
        (format!("GET {good} HTTP/1.1\\r\\n{host}\\r\\nHost: other.test\\r\\n\\r\\n"), "its Host header says"),
        (format!("GET http://a:b@good.test:{port}/ HTTP/1.1\\r\\n{host}\\r\\n\\r\\n"), "a user name or password"),
        (format!("GET / HTTP/1.1\\r\\n{host}\\r\\n\\r\\n"), "this is a proxy"),
        (format!("GET https://good.test:{port}/ HTTP/1.1\\r\\n{host}\\r\\n\\r\\n"), "use CONNECT"),
        (format!("GET ftp://good.test:{port}/ HTTP/1.1\\r\\n{host}\\r\\n\\r\\n"), "does not go through here"),
        (format!("CONNECT good.test:{port} HTTP/1.1\\r\\nHost: other.test:{port}\\r\\n\\r\\n"), "its Host header says"),
        ("CONNECT good.test HTTP/1.1\\r\\n\\r\\n".to_owned(), "400"),
        (
            format!("POST {good} HTTP/1.1\\r\\n{host}\\r\\nContent-Length: 3\\r\\nContent-Length: 5\\r\\n\\r\\nabcde"),
            "400",
        ),
        (format!("POST {good} HTTP/1.1\\r\\n{host}\\r\\nContent-Length: +3\\r\\n\\r\\nabc"), "400"),
        (format!("POST {good} HTTP/1.1\\r\\n{host}\\r\\nTransfer-Encoding: gzip\\r\\n\\r\\nabc"), "400"),
        (format!("GET {good} HTTP/1.1\\r\\n{host}\\r\\nX : y\\r\\n\\r\\n"), "400"),
        (format!("GET {good} HTTP/1.1\\r\\n{host}\\r\\nX: a\\r\\n folded\\r\\n\\r\\n"), "400"),
        ("nonsense\\r\\n\\r\\n".to_owned(), "400"),
    ] {
        let said = yard.prints(&raw(&request)).await;
        assert!(said.starts_with("HTTP/1.1 4") && said.contains(expected), "{request}: {said}");
        yard.refusal().await;
    }
    assert_eq!(server.accepted(), 0);
    // Of two lengths only one is left, and nothing after the body becomes a request of its own.
    let smuggled = format!(
        "POST {good} HTTP/1.1\\r\\n{host}\\r\\nContent-Length: 60\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n\
         3\\r\\nabc\\r\\n0\\r\\n\\r\\nGET http://evil.test/ HTTP/1.1\\r\\nHost: evil.test\\r\\n\\r\\n"
    );
    let said = yard.prints(&raw(&smuggled)).await;
    assert!(said.contains("200 OK") && said.ends_with("abc\n"), "{said}");
    let seen = server.seen();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(seen[0].header("content-length").is_empty() && seen[0].body == "abc", "{seen:?}");
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn what_concerns_one_connection_only_is_not_passed_on() {
    let server = Server::http().await;
    let port = server.port;
    let yard = Yard::new(allow(&["good.test"], port, &Names::new())).await;
    let request = format!(
        "GET http://good.test:{port}/ HTTP/1.1\\r\\nHost: GOOD.test.:{port}\\r\\nConnection: X-One, keep-alive\\r\\n\
         X-One: 1\\r\\nX-Two: 2\\r\\nProxy-Authorization: Basic eDp5\\r\\nUpgrade: h2c\\r\\nTE: trailers\\r\\n\\r\\n"
    );
    let said = yard.prints(&raw(&request)).await;
    assert!(said.contains("200 OK") && said.to_lowercase().contains("connection: close"), "{said}");
    let seen = server.seen().remove(0);
    assert_eq!(seen.header("host"), [format!("good.test:{port}")]);
    assert_eq!(seen.header("x-two"), ["2"]);
    for name in ["x-one", "connection", "proxy-authorization", "upgrade", "te"] {
        assert!(seen.header(name).is_empty(), "{name}");
    }
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn commands_are_told_about_the_proxy_only_where_there_is_one() {
    let place = Place::new();
    let sandbox = place.start().await;
    let none = prints(&sandbox, "env | grep -ci _proxy= || true").await;
    assert_eq!(none, "0");
    assert!(sandbox.connections().is_none());
    sandbox.shutdown().await;

    let yard = Yard::new(AllowList::parse(["example.org"]).unwrap()).await;
    let env = prints(&yard.sandbox, "env | grep -i _proxy= | sort").await;
    let proxy = "http://127.0.0.1:3128";
    let direct = "localhost,127.0.0.1,::1";
    let expected = format!(
        "ALL_PROXY={proxy}\nHTTPS_PROXY={proxy}\nHTTP_PROXY={proxy}\nNO_PROXY={direct}\nall_proxy={proxy}\n\
         http_proxy={proxy}\nhttps_proxy={proxy}\nno_proxy={direct}"
    );
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&env), sorted(&expected));
    assert_eq!(prints(&yard.sandbox, "env | grep -c -e CERT -e CAINFO -e CA_BUNDLE || true").await, "0");
    let request = retrace_sandbox::ExecRequest {
        env: vec![("HTTP_PROXY".to_owned(), "mine".to_owned())],
        ..retrace_sandbox::ExecRequest::shell("echo $HTTP_PROXY")
    };
    assert_eq!(text(&run(&yard.sandbox, request).await.stdout), "mine\n");
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn without_isolation_there_is_no_list() {
    let place = Place::new();
    let policy = Policy { network: Network::Allow(AllowList::parse(["example.org"]).unwrap()), ..place.policy() };
    let error = Sandbox::start(SandboxChoice::None, policy, Limits::default(), place.guest_dir()).await.unwrap_err();
    assert!(matches!(error, SandboxError::NetworkOpen), "{error}");
    assert!(error.to_string().contains("hint:"));
}

#[tokio::test]
async fn the_port_of_https_is_for_tls_and_that_of_http_for_requests() {
    let names = Names::new();
    let list = AllowList::parse(["good.test", "127.0.0.53"]).unwrap().with_resolver(names.clone());
    let yard = Yard::new(list).await;
    let said = yard.prints(&raw("CONNECT good.test:80 HTTP/1.1\\r\\n\\r\\n")).await;
    assert!(said.contains("400") && said.contains("a tunnel to port 80"), "{said}");
    yard.refusal().await;
    if !as_root() {
        return yard.sandbox.shutdown().await;
    }
    // Only root may listen there; other machines may have something there already.
    let Ok(listener) = TcpListener::bind("127.0.0.53:443") else { return yard.sandbox.shutdown().await };
    names.answer("good.test", &[&["127.0.0.53"]]);
    let script = super::yard::through_tunnel(
        "good.test:443",
        "s.sendall(b'GET / HTTP/1.1\\r\\nHost: evil.test\\r\\n\\r\\n')\n\
         assert s.recv(100) == bytes([21, 3, 3, 0, 2, 2, 49])\n\
         assert s.recv(100) == b''",
    );
    yard.prints(&script).await;
    assert!(yard.refusal().await.contains("where TLS begins"));
    let (mut stream, _) = listener.accept().unwrap();
    assert_eq!(std::io::Read::read(&mut stream, &mut [0; 10]).unwrap_or_default(), 0);
    yard.sandbox.shutdown().await;
}
