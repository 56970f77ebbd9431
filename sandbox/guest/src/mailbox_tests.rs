//! The mailbox: bounded whatever the host sends, and nobody waits for ever.

use std::sync::Arc;
use std::thread;

use super::*;

#[test]
fn parts_come_in_order_and_then_the_end() {
    let mailbox = Mailbox::new(Intake::File).unwrap();
    mailbox.push(b"one".to_vec(), false);
    mailbox.push(Vec::new(), false);
    mailbox.push(b"two".to_vec(), true);
    mailbox.push(b"after the end".to_vec(), true);
    assert_eq!(mailbox.next_part(), Part::Bytes(b"one".to_vec()));
    assert_eq!(mailbox.next_part(), Part::Bytes(b"two".to_vec()));
    assert_eq!(mailbox.next_part(), Part::End);
}

#[test]
fn too_much_stdin_ends_the_command_instead_of_filling_memory() {
    let mailbox = Mailbox::new(Intake::Stdin).unwrap();
    let part = vec![0; 1024 * 1024];
    for _ in 0..MAX_STDIN_BYTES / part.len() as u64 {
        mailbox.push(part.clone(), false);
        assert!(!mailbox.killed());
    }
    mailbox.push(vec![0], false);
    assert!(mailbox.killed());
}

#[test]
fn a_file_larger_than_memory_flows_through() {
    let mailbox = Arc::new(Mailbox::new(Intake::File).unwrap());
    let sender = Arc::clone(&mailbox);
    let parts = 64u64;
    let thread = thread::spawn(move || {
        for number in 0..parts {
            sender.push(vec![0; 1024 * 1024], number + 1 == parts);
        }
    });
    let mut total_bytes = 0;
    while let Part::Bytes(part) = mailbox.next_part() {
        assert!(mailbox.lock().waiting_bytes <= WRITE_QUEUE_BYTES + 1024 * 1024);
        total_bytes += part.len() as u64;
    }
    thread.join().unwrap();
    assert_eq!(total_bytes, parts * 1024 * 1024);
}

#[test]
fn a_waiting_sender_goes_on_when_the_request_ends() {
    let mailbox = Arc::new(Mailbox::new(Intake::File).unwrap());
    let sender = Arc::clone(&mailbox);
    let thread = thread::spawn(move || {
        for _ in 0..32 {
            sender.push(vec![0; 1024 * 1024], false);
        }
    });
    mailbox.close();
    thread.join().unwrap();
}

#[test]
fn a_waiting_reader_learns_of_the_kill() {
    let mailbox = Arc::new(Mailbox::new(Intake::File).unwrap());
    let reader = Arc::clone(&mailbox);
    let thread = thread::spawn(move || reader.next_part());
    mailbox.kill();
    assert_eq!(thread.join().unwrap(), Part::Killed);
}

#[test]
fn credit_neither_overflows_nor_underflows() {
    let mailbox = Mailbox::new(Intake::Stdin).unwrap();
    assert_eq!(mailbox.credit_bytes(), INITIAL_CREDIT_BYTES);
    mailbox.grant(u64::MAX);
    assert_eq!(mailbox.credit_bytes(), u64::MAX);
    mailbox.spend(u64::MAX);
    mailbox.spend(1);
    assert_eq!(mailbox.credit_bytes(), 0);
}

#[test]
fn a_request_to_end_ends_at_once_what_is_no_command() {
    let command = Mailbox::new(Intake::Stdin).unwrap();
    command.terminate();
    assert_eq!((command.terminated(), command.killed()), (true, false));
    let write = Mailbox::new(Intake::File).unwrap();
    write.terminate();
    assert_eq!((write.killed(), write.next_part()), (true, Part::Killed));
}
