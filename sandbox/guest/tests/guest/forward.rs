//! Connections that the guest hands over: bytes, credit, and every way to end.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::time::Duration;

use retrace_guest::message::{
    CHUNK_COST_BYTES, FORWARD_WINDOW_BYTES, FailureKind, ListenSpec, MAX_FORWARDED, Request, Response,
};

use crate::client::{Client, eventually, shell};

/// Makes the guest listen; returns the request and the port.
fn listen(client: &mut Client) -> (u64, u16) {
    let id = client.start(&Request::Listen(ListenSpec { port: 0 }));
    let (Response::Listening { port }, _) = client.next(id) else { panic!("it does not listen") };
    (id, port)
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    // A test that would hang fails instead.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

/// Offers to take a connection and makes one.
fn connected(client: &mut Client, port: u16) -> (u64, TcpStream) {
    let id = client.start(&Request::Accept);
    let stream = connect(port);
    assert!(matches!(client.next(id).0, Response::Accepted(_)));
    (id, stream)
}

/// All that comes on a connection until the command's side is closed, granting credit; credit for us is counted.
fn receive_all(client: &mut Client, id: u64) -> (Vec<u8>, u64) {
    let (mut bytes, mut credit) = (Vec::new(), 0);
    loop {
        match client.next(id) {
            (Response::Received, part) => {
                client.send(id, &Request::Credit { bytes: part.len() as u64 + CHUNK_COST_BYTES }, &[]);
                bytes.extend(part);
            }
            (Response::Credit { bytes }, _) => credit += bytes,
            (Response::ReceivedAll, _) => return (bytes, credit),
            other => panic!("{other:?}"),
        }
    }
}

fn until_closed(client: &mut Client, id: u64) -> bool {
    loop {
        match client.next(id).0 {
            Response::Closed { reset } => return reset,
            Response::Received | Response::ReceivedAll | Response::Credit { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

fn noise(length: usize) -> Vec<u8> {
    let mut state = 12345u32;
    let step = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..length).map(step).collect()
}

#[test]
fn bytes_go_both_ways_and_each_side_closes_its_own() {
    let mut client = Client::new();
    let (_, port) = listen(&mut client);
    let (id, mut stream) = connected(&mut client, port);
    stream.write_all(b"question").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(receive_all(&mut client, id).0, b"question");
    // The other direction is still open.
    client.send(id, &Request::Data { last: false }, b"an ");
    client.send(id, &Request::Data { last: true }, b"answer");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "an answer");
    assert!(!until_closed(&mut client, id));
}

#[test]
fn the_host_may_close_its_side_first() {
    let mut client = Client::new();
    let (_, port) = listen(&mut client);
    let (id, mut stream) = connected(&mut client, port);
    client.send(id, &Request::Data { last: true }, b"all I have to say");
    let mut heard = String::new();
    stream.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "all I have to say");
    stream.write_all(b"late").unwrap();
    drop(stream);
    let mut received = Vec::new();
    loop {
        match client.next(id) {
            (Response::Received, part) => received.extend(part),
            (Response::Credit { .. } | Response::ReceivedAll, _) => {}
            (Response::Closed { reset }, _) => break assert!(!reset),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(received, b"late");
}

#[test]
fn large_data_arrives_as_it_was_sent_in_both_directions_at_once() {
    let mut client = Client::new();
    let (_, port) = listen(&mut client);
    let (id, stream) = connected(&mut client, port);
    let (up, down) = (noise(5_000_000), noise(7_000_001));
    let (mut writing, mut reading) = (stream.try_clone().unwrap(), stream);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            writing.write_all(&up).unwrap();
            writing.shutdown(Shutdown::Write).unwrap();
        });
        let reader = scope.spawn(|| {
            let mut bytes = Vec::new();
            reading.read_to_end(&mut bytes).unwrap();
            bytes
        });
        let (mut received, mut window, mut sent, mut ended) = (Vec::new(), FORWARD_WINDOW_BYTES, 0, false);
        while !ended || sent < down.len() {
            while sent < down.len() && window > CHUNK_COST_BYTES {
                let count = (down.len() - sent).min((window - CHUNK_COST_BYTES) as usize).min(50_000);
                let part = &down[sent..sent + count];
                client.send(id, &Request::Data { last: sent + count == down.len() }, part);
                window -= count as u64 + CHUNK_COST_BYTES;
                sent += count;
            }
            match client.next(id) {
                (Response::Received, part) => {
                    client.send(id, &Request::Credit { bytes: part.len() as u64 + CHUNK_COST_BYTES }, &[]);
                    received.extend(part);
                }
                (Response::Credit { bytes }, _) => window += bytes,
                (Response::ReceivedAll, _) => ended = true,
                // Everything is said on both sides.
                (Response::Closed { reset: false }, _) => break,
                other => panic!("{other:?}"),
            }
        }
        assert!(received == up);
        assert!(reader.join().unwrap() == down);
    });
}

#[test]
fn a_connection_without_credit_waits_and_holds_up_no_other() {
    let mut client = Client::new();
    let (_, port) = listen(&mut client);
    let (slow, slow_stream) = connected(&mut client, port);
    let mut writing = slow_stream.try_clone().unwrap();
    // Far more than all buffers on the way hold.
    let writer = std::thread::spawn(move || writing.write_all(&vec![7; 32 << 20]));
    let mut received = 0;
    while received + 2 * CHUNK_COST_BYTES < FORWARD_WINDOW_BYTES {
        let (Response::Received, part) = client.next(slow) else { panic!("something else came") };
        received += part.len() as u64 + CHUNK_COST_BYTES;
    }
    assert!(received <= FORWARD_WINDOW_BYTES, "{received}");
    let (quick, mut stream) = connected(&mut client, port);
    stream.write_all(b"here").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(receive_all(&mut client, quick).0, b"here");
    assert_eq!(client.shell("true").end.code, Some(0));
    client.send(slow, &Request::Kill, &[]);
    assert!(until_closed(&mut client, slow));
    assert!(writer.join().unwrap().is_err());
    drop(slow_stream);
}

#[test]
fn a_command_that_reads_slowly_gets_everything_and_holds_up_no_other() {
    let mut client = Client::new();
    let (_, port) = listen(&mut client);
    let (slow, mut slow_stream) = connected(&mut client, port);
    let part = noise(60_000);
    // All that may be on the way, and no more.
    for _ in 0..4 {
        client.send(slow, &Request::Data { last: false }, &part);
    }
    let (quick, mut stream) = connected(&mut client, port);
    client.send(quick, &Request::Data { last: true }, b"quick");
    let mut heard = String::new();
    stream.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "quick");
    // Nobody is interested any more, but all of it is to arrive.
    client.send(slow, &Request::Data { last: true }, &[]);
    client.send(slow, &Request::Terminate, &[]);
    assert_eq!(client.call(&Request::Ping)[0].0, Response::Pong);
    let mut bytes = Vec::new();
    slow_stream.read_to_end(&mut bytes).unwrap();
    assert!(bytes == part.repeat(4));
    drop(slow_stream);
    assert!(!until_closed(&mut client, slow));
}

#[test]
fn what_was_sent_to_its_end_waits_for_a_command_that_takes_its_time() {
    let mut client = Client::new();
    let (_, port) = listen(&mut client);
    // The host leaves at once, or once the kernel has everything.
    for waits in [false, true] {
        let (id, mut stream) = connected(&mut client, port);
        // More than the command's side takes without reading (a window of 64 KiB): the rest is left to the guest's.
        let sent = noise(250_000);
        client.send(id, &Request::Data { last: true }, &sent);
        if waits {
            assert!(matches!(client.next(id).0, Response::Credit { .. }));
        }
        client.send(id, &Request::Terminate, &[]);
        assert!(!until_closed(&mut client, id));
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        assert!(received == sent, "{} of {}", received.len(), sent.len());
    }
}

#[test]
fn a_reset_is_told_to_either_side() {
    let mut client = Client::new();
    let (_, port) = listen(&mut client);
    let (id, stream) = connected(&mut client, port);
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
    assert!(until_closed(&mut client, id));

    let (id, mut stream) = connected(&mut client, port);
    client.send(id, &Request::Kill, &[]);
    assert!(until_closed(&mut client, id));
    assert_eq!(stream.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
fn a_host_that_sends_more_than_it_may_loses_that_connection_only() {
    let mut client = Client::new();
    let (_, port) = listen(&mut client);
    // Neither reads, so nothing can be granted for long.
    let (id, stream) = connected(&mut client, port);
    let (other, mut other_stream) = connected(&mut client, port);
    for _ in 0..200 {
        client.send(id, &Request::Data { last: false }, &vec![0; 500_000]);
    }
    assert!(until_closed(&mut client, id));
    client.send(other, &Request::Data { last: true }, b"well");
    let mut heard = String::new();
    other_stream.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "well");
    drop(stream);
}

#[test]
fn offers_are_refused_where_nobody_listens_or_too_many_wait() {
    let mut client = Client::new();
    let failed = |client: &mut Client, id| match client.next(id).0 {
        Response::Failed(failure) => failure.kind,
        other => panic!("{other:?}"),
    };
    let id = client.start(&Request::Accept);
    assert_eq!(failed(&mut client, id), FailureKind::BadRequest);
    let (_, port) = listen(&mut client);
    let second = client.start(&Request::Listen(ListenSpec { port: 0 }));
    assert_eq!(failed(&mut client, second), FailureKind::BadRequest);
    let taken = client.start(&Request::Listen(ListenSpec { port }));
    assert_eq!(failed(&mut client, taken), FailureKind::Io);
    let offers: Vec<u64> = (0..MAX_FORWARDED).map(|_| client.start(&Request::Accept)).collect();
    let id = client.start(&Request::Accept);
    assert_eq!(failed(&mut client, id), FailureKind::Busy);
    // One that is withdrawn makes room, and the next connection goes to the oldest that is left.
    client.send(offers[0], &Request::Kill, &[]);
    assert_eq!(failed(&mut client, offers[0]), FailureKind::Cancelled);
    let stream = connect(port);
    assert!(matches!(client.next(offers[1]).0, Response::Accepted(_)));
    drop(stream);
}

#[test]
fn connections_wait_until_the_host_takes_them() {
    let mut client = Client::new();
    let (_, port) = listen(&mut client);
    let mut streams: Vec<TcpStream> = (0..20).map(|_| connect(port)).collect();
    for (number, stream) in streams.iter_mut().enumerate() {
        stream.write_all(&[number as u8]).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
    }
    for number in 0..20 {
        let id = client.start(&Request::Accept);
        assert!(matches!(client.next(id).0, Response::Accepted(_)));
        assert_eq!(receive_all(&mut client, id).0, [number]);
    }
}

#[test]
fn the_end_of_the_listener_ends_everything() {
    let mut client = Client::new();
    let (listener, port) = listen(&mut client);
    let (id, mut stream) = connected(&mut client, port);
    let offer = client.start(&Request::Accept);
    client.send(listener, &Request::Kill, &[]);
    for request in [listener, id, offer] {
        let (Response::Failed(failure), _) = client.next(request) else { panic!("it goes on") };
        assert_eq!(failure.kind, FailureKind::Cancelled);
    }
    assert!(stream.read(&mut [0]).is_err());
    eventually("the port is free", || TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok());
    // It can be done again.
    let (_, port) = listen(&mut client);
    connected(&mut client, port);
}

#[test]
fn the_call_that_a_connection_came_from_is_named() {
    let mut client = Client::new();
    let (_, port) = listen(&mut client);
    let mut origin = |script: &str| {
        let offer = client.start(&Request::Accept);
        let mut spec = shell(script);
        spec.env.push(("RETRACE_CALL_ID".to_owned(), "toolu_7".to_owned()));
        let command = client.start(&Request::Exec(spec));
        let (Response::Accepted(accepted), _) = client.next(offer) else { panic!("not taken") };
        client.send(offer, &Request::Kill, &[]);
        client.ran(command).unwrap();
        accepted.origin
    };
    let wait = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; read -r line <&3; true");
    assert_eq!(origin(&wait).as_deref(), Some("toolu_7"));
    // Its environment is empty; its parent's is not.
    assert_eq!(origin(&format!("env -i bash -c '{wait}'; true")).as_deref(), Some("toolu_7"));
    // A hint and no more.
    assert_eq!(origin(&format!("RETRACE_CALL_ID=other bash -c '{wait}'; true")).as_deref(), Some("other"));
    assert_eq!(origin(&format!("RETRACE_CALL_ID='a b' bash -c '{wait}'; true")).as_deref(), Some("toolu_7"));
}
