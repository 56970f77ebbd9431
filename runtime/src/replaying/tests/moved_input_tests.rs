//! What tools are handed: inputs with the workspace where it is now.

use crate::replaying::moved_input::moved_input;
use serde_json::json;

#[test]
fn paths_are_moved_wherever_they_stand_but_in_contents() {
    let input = json!({
        "command": "cd /w/a && make -C /w/a/sub",
        "path": "/w/a/x.rs",
        "content": "#!/bin/sh\ncd /w/a\n",
        "old_string": "/w/a",
        "new_string": "/w/a/other",
        "edits": [{ "old_string": "/w/a", "path": "/w/a/y" }],
        "limit": 3,
        "all": true,
        "none": null,
    });
    let moved = moved_input(input, "/w/a", "/fresh/a");
    assert_eq!(
        moved,
        json!({
            "command": "cd /fresh/a && make -C /fresh/a/sub",
            "path": "/fresh/a/x.rs",
            "content": "#!/bin/sh\ncd /w/a\n",
            "old_string": "/w/a",
            "new_string": "/w/a/other",
            "edits": [{ "old_string": "/w/a", "path": "/fresh/a/y" }],
            "limit": 3,
            "all": true,
            "none": null,
        })
    );
}
