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
    let (allow, allowed) = std::sync::mpsc::channel();
    let (parts, part_bytes) = (64u64, 1024 * 1024u64);
    let thread = thread::spawn(move || {
        let mut window = WRITE_WINDOW_BYTES;
        for number in 0..parts {
            while window < part_bytes {
                window += allowed.recv().unwrap();
            }
            window -= part_bytes;
            sender.push(vec![0; part_bytes as usize], number + 1 == parts);
        }
    });
    let mut total_bytes = 0;
    while let Part::Bytes(part) = mailbox.next_part() {
        assert!(mailbox.lock().used_bytes <= WRITE_WINDOW_BYTES);
        total_bytes += part.len() as u64;
        // The sender may have all it needs.
        mailbox.take_grant().into_iter().for_each(|bytes| allow.send(bytes).unwrap_or_default());
    }
    thread.join().unwrap();
    assert_eq!(total_bytes, parts * part_bytes);
}

#[test]
fn more_of_a_file_than_is_allowed_ends_the_write_and_never_makes_the_sender_wait() {
    let mailbox = Mailbox::new(Intake::File).unwrap();
    mailbox.push(vec![0; WRITE_WINDOW_BYTES as usize], false);
    assert!(!mailbox.killed());
    mailbox.push(vec![0], false);
    assert_eq!((mailbox.killed(), mailbox.next_part()), (true, Part::Killed));
}

#[test]
fn the_newest_size_of_the_terminal_is_taken_once() {
    let mailbox = Mailbox::new(Intake::Stdin).unwrap();
    for rows in 1..5 {
        mailbox.resize(TerminalSize { rows, columns: 80 });
    }
    assert_eq!(mailbox.take_size(), Some(TerminalSize { rows: 4, columns: 80 }));
    assert_eq!(mailbox.take_size(), None);
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
