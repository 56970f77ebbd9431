//! How much room there is for images: by number, by size, with those that wait counted in.

use super::super::image_room::check;
use crate::tools::ToolImage;
use retrace_events::fold::{Image, QueuedPrompt};
use retrace_events::payload::turn::PromptSource;
use retrace_events::{EventId, SessionState};

fn image(bytes: usize) -> ToolImage {
    let (name, media_type) = ("x.png".to_owned(), "image/png".to_owned());
    ToolImage { name, media_type, bytes: vec![0; bytes], width_px: 1, height_px: 1 }
}

/// A session in which a prompt with `count` images of so many bytes in base64 waits.
fn holding(count: usize, base64_bytes: usize) -> SessionState {
    let data_base64 = "A".repeat(base64_bytes).into();
    let image = Image { media_type: "image/png".to_owned(), data_base64 };
    let queued = QueuedPrompt {
        event: EventId(uuid::Uuid::nil()),
        text: "see".to_owned(),
        source: PromptSource::Control,
        attachments: Vec::new(),
        images: vec![image; count],
    };
    SessionState { queue: [queued].into(), ..SessionState::default() }
}

#[test]
fn as_many_fit_as_a_request_takes_and_none_more() {
    assert_eq!(check(&holding(99, 1), &[image(3)]), Ok(()));
    let why = check(&holding(100, 1), &[image(3)]).unwrap_err();
    assert_eq!(why, "the session would hold 101 images, and at most 100 go with a request");
}

#[test]
fn as_much_fits_as_a_request_takes_and_no_more() {
    let half = 10 * 1024 * 1024;
    assert_eq!(check(&holding(1, half), &[image(half / 4 * 3)]), Ok(()));
    let why = check(&holding(1, half), &[image(half / 4 * 3 + 1)]).unwrap_err();
    assert!(why.contains("20 MB of each request, and at most 20 MB"), "{why}");
}

#[test]
fn a_session_that_is_full_takes_what_has_no_images() {
    assert_eq!(check(&holding(500, 1), &[]), Ok(()));
}
