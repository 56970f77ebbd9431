//! Credentials that the proxy adds: servers get them, nothing inside ever sees them.

use retrace_sandbox::{AllowList, Credential, How, Secret, Verdict};

use super::servers::{Server, TestAuthority};
use super::yard::{Names, Yard, allow, through_tunnel};

const SECRET: &str = "s3cr3t-that-nobody-inside-may-see";

fn credential(domain: &str, port: u16) -> Credential {
    let secret = Secret::new(SECRET).prefixed("Bearer ");
    Credential::new(&format!("{domain}:{port}"), "Authorization", &secret).unwrap()
}

fn list(names: &[&str], server: &Server, authority: &TestAuthority) -> AllowList {
    allow(names, server.port, &Names::new()).with_root_certificates(vec![authority.der()])
}

#[tokio::test]
async fn a_credential_is_added_and_never_seen_inside() {
    let authority = TestAuthority::new();
    let server = Server::https(&authority, &["api.test", "other.test"]).await;
    let list = list(&["api.test", "other.test"], &server, &authority);
    let yard = Yard::new(list.with_credential(credential("api.test", server.port)).unwrap()).await;
    let port = server.port;
    let url = format!("https://api.test:{port}/");
    let hello = format!("hello from api.test:{port}\n");
    // Several programs, none of them told anything but by their environment.
    let verbose = yard.prints(&format!("curl -vsS {url} 2>&1")).await;
    assert!(verbose.contains(&hello) && !verbose.contains(SECRET), "{verbose}");
    assert!(verbose.contains("retrace session authority"), "{verbose}");
    let python =
        format!("python3 -c \"import urllib.request; print(urllib.request.urlopen('{url}').read().decode(), end='')\"");
    assert_eq!(yard.prints(&python).await, hello);
    yard.run(&format!("git ls-remote {url}repository")).await;
    // One that sends something of its own does not keep it.
    yard.prints(&format!(
        "curl -sS -H 'authorization: mine' -H 'Authorization: too' -H 'Connection: authorization' {url}"
    ))
    .await;
    let seen = server.seen();
    assert!(seen.len() >= 4);
    for seen in &seen {
        assert_eq!(seen.header("authorization"), [format!("Bearer {SECRET}")], "{}", seen.uri);
        assert_eq!(seen.header("host"), [format!("api.test:{port}")]);
    }
    let report = yard.report().await;
    assert_eq!((report.how, &report.verdict), (How::Tls, &Verdict::Allowed));
    assert_eq!(report.credential, Some(format!("api.test:{port}")));
    assert!(!format!("{report:?}").contains(SECRET));
    // Not in any environment, nor in any file that a command can read.
    let everywhere = format!(
        "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; \
         grep -rlsa '{}' . $HOME /tmp /run /etc /dev/shm || true",
        &SECRET[..12]
    );
    let found = yard.prints(&everywhere).await.replace(&format!("'{}'", &SECRET[..12]), "");
    assert!(!found.contains(SECRET) && !found.contains("s3cr3t-that ./"), "{found}");
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn it_goes_to_its_domain_only_and_over_tls_only() {
    let authority = TestAuthority::new();
    let secure = Server::https(&authority, &["api.test", "other.test"]).await;
    let plain = Server::http().await;
    let entries = [
        format!("api.test:{}", secure.port),
        format!("other.test:{}", secure.port),
        format!("127.0.0.1:{}", secure.port),
        format!("api.test:{}", plain.port),
        format!("open.test:{}", plain.port),
        format!("127.0.0.1:{}", plain.port),
    ];
    let open = credential("open.test", plain.port).over_plain_http();
    let list = AllowList::parse(entries).unwrap().with_resolver(Names::new());
    let list = list.with_root_certificates(vec![authority.der()]);
    let list = list.with_credential(credential("api.test", secure.port)).unwrap();
    let list = list.with_credential(credential("api.test", plain.port)).unwrap().with_credential(open).unwrap();
    let yard = Yard::new(list).await;
    yard.place.file("ca.pem", authority.pem());
    // Another domain on the same server: a tunnel, whose certificate is the server's own.
    let other = yard.prints(&format!("curl -sS --cacert ca.pem https://other.test:{}/", secure.port)).await;
    assert!(other.starts_with("hello"), "{other}");
    assert_eq!(secure.seen().pop().unwrap().header("authorization"), Vec::<&str>::new());
    let report = yard.report().await;
    assert_eq!((report.how, report.credential), (How::Connect, None));
    // Plain HTTP only where the entry says so.
    yard.prints(&format!("curl -sS http://api.test:{}/", plain.port)).await;
    assert_eq!(plain.seen().pop().unwrap().header("authorization"), Vec::<&str>::new());
    assert_eq!(yard.report().await.credential, None);
    yard.prints(&format!("curl -sS http://open.test:{}/", plain.port)).await;
    assert_eq!(plain.seen().pop().unwrap().header("authorization"), [format!("Bearer {SECRET}")]);
    assert_eq!(yard.report().await.credential, Some(format!("open.test:{}", plain.port)));
    // A redirect is the command's to follow, and it has nothing to send.
    let script = format!("curl -sSL 'https://api.test:{}/to/http:||api.test:{}|'", secure.port, plain.port);
    yard.prints(&script).await;
    assert_eq!(secure.seen().pop().unwrap().header("authorization"), [format!("Bearer {SECRET}")]);
    assert_eq!(plain.seen().pop().unwrap().header("authorization"), Vec::<&str>::new());
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn a_server_that_is_not_who_it_should_be_does_not_get_it() {
    let (authority, stranger) = (TestAuthority::new(), TestAuthority::new());
    // One with a certificate nobody knows, one with another's name.
    for server in [Server::https(&stranger, &["api.test"]).await, Server::https(&authority, &["other.test"]).await] {
        let list = list(&["api.test"], &server, &authority);
        let yard = Yard::new(list.with_credential(credential("api.test", server.port)).unwrap()).await;
        let (succeeded, said) = yard.run(&format!("curl -sSk https://api.test:{}/", server.port)).await;
        assert!(!succeeded && said.contains("502"), "{said}");
        let report = yard.report().await;
        let Verdict::Failed { why } = report.verdict else { panic!("{report:?}") };
        assert!(why.contains("cannot speak TLS with api.test"), "{why}");
        assert_eq!(server.seen().len(), 0);
        yard.sandbox.shutdown().await;
    }
}

#[tokio::test]
async fn what_could_bring_it_back_or_elsewhere_is_refused() {
    let authority = TestAuthority::new();
    let server = Server::https(&authority, &["api.test", "other.test"]).await;
    let list = list(&["api.test", "other.test"], &server, &authority);
    let yard = Yard::new(list.with_credential(credential("api.test", server.port)).unwrap()).await;
    let port = server.port;
    let target = format!("api.test:{port}");
    let url = format!("https://{target}/");
    let said = yard.prints(&format!("curl -sS -X TRACE {url}")).await;
    assert!(said.contains("TRACE would show the credential"), "{said}");
    yard.report().await;
    // The certificate is for this name; asking for another ends it before anything is sent.
    let script = "context = ssl.create_default_context()\ncontext.check_hostname = False\n\
        context.verify_mode = ssl.CERT_NONE\n\
        try: context.wrap_socket(s, server_hostname='other.test')\nexcept (ssl.SSLError, OSError): print('no')";
    assert_eq!(yard.prints(&through_tunnel(&target, script)).await, "no\n");
    yard.report().await;
    for host in ["other.test".to_owned(), format!("other.test:{port}"), "api.test".to_owned()] {
        let said = yard.prints(&format!("curl -sS -H 'Host: {host}' {url}")).await;
        assert!(said.contains("its Host header says"), "{host}: {said}");
        yard.report().await;
    }
    let said = yard.prints(&format!("curl -sS --request-target http://other.test/ {url}")).await;
    assert!(said.contains("was sent to api.test"), "{said}");
    assert_eq!(server.seen().len(), 0);
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn one_connection_carries_several_requests_and_large_bodies() {
    let authority = TestAuthority::new();
    let server = Server::https(&authority, &["api.test"]).await;
    let list = list(&["api.test"], &server, &authority);
    let yard = Yard::new(list.with_credential(credential("api.test", server.port)).unwrap()).await;
    yard.place.file("sent", super::servers::large());
    let url = format!("https://api.test:{}", server.port);
    let script = format!("curl -sS {url}/a {url}/b && curl -sS -o echoed --data-binary @sent {url}/echo");
    yard.prints(&script).await;
    assert!(std::fs::read(yard.place.workspace().join("echoed")).unwrap() == super::servers::large());
    let report = yard.report().await;
    assert_eq!(report.verdict, Verdict::Allowed);
    assert!(yard.report().await.sent_bytes > 50_000_000);
    assert_eq!((server.seen().len(), server.accepted()), (3, 2));
    yard.sandbox.shutdown().await;
}

#[tokio::test]
async fn the_certificates_inside_are_the_systems_and_ours() {
    let authority = TestAuthority::new();
    let server = Server::https(&authority, &["api.test"]).await;
    let list = list(&["api.test"], &server, &authority);
    let yard = Yard::new(list.with_credential(credential("api.test", server.port)).unwrap()).await;
    let script = "for name in SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS GIT_SSL_CAINFO \
        CARGO_HTTP_CAINFO; do echo ${!name}; done | sort -u; grep -c BEGIN $SSL_CERT_FILE; \
        cat /etc/ssl/certs/ca-certificates.crt 2>/dev/null | grep -c BEGIN; grep -c PRIVATE $SSL_CERT_FILE";
    let printed = yard.run(script).await.1;
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], "/home/agent/.retrace/certificates.pem", "{printed}");
    let (ours, systems): (usize, usize) = (lines[1].parse().unwrap(), lines[2].parse().unwrap());
    assert_eq!((ours, lines[3]), (systems + 1, "0"), "{printed}");
    yard.sandbox.shutdown().await;
}
