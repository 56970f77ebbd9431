//! Builds the guest agent as a static binary, so that the crate can embed it; and names the default image by its recipe.
//!
//! A nested cargo call with a target folder of its own (the outer call holds the lock of the shared one) and a clean
//! environment: flags and wrappers of the outer call (clippy, coverage, …) are not meant for the guest. The guest must
//! run in any container image, hence the static linking.

use std::env;
use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sha2::{Digest as _, Sha256};

/// Settings of the outer cargo that the nested one needs too; every other `CARGO_*` is dropped.
const KEPT: [&str; 7] = [
    "CARGO_HOME",
    "CARGO_MAKEFLAGS",
    "CARGO_NET_",
    "CARGO_HTTP_",
    "CARGO_SOURCE_",
    "CARGO_REGISTRY_",
    "CARGO_REGISTRIES_",
];
/// What the outer build adds that would change the guest's.
const DROPPED: [&str; 9] = [
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CLIPPY_ARGS",
    "CLIPPY_CONF_DIR",
    "RUSTC_BOOTSTRAP",
    "__CARGO_DEFAULT_LIB_METADATA",
    "LLVM_PROFILE_FILE",
];
/// Small and quickly built; debug information would triple the size.
const PROFILE: [&str; 6] = [
    "profile.release.opt-level=2",
    "profile.release.codegen-units=16",
    "profile.release.debug=false",
    "profile.release.strip=\"symbols\"",
    "profile.release.panic=\"abort\"",
    "profile.release.lto=false",
];

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(variable("OUT_DIR")?);
    let guest = here.join("guest");
    for watched in ["src", "Cargo.toml"] {
        println!("cargo::rerun-if-changed={}", guest.join(watched).display());
    }
    for watched in ["Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", here.join("..").join(watched).display());
    }

    println!("cargo::rustc-env=RETRACE_IMAGE_TAG={}", image_tag(&here.join("image"))?);

    let target = variable("TARGET")?;
    let target_dir = out.join("guest-target");
    let built = target_dir.join(&target).join("release").join("retrace-guest");
    // Usually all crates are there already; only a machine that fetches for the first time needs the network.
    let mut output = build(&guest, &target, &target_dir, &["--locked", "--offline"])?;
    if !output.status.success() {
        output = build(&guest, &target, &target_dir, &["--locked"])?;
    }
    if !output.status.success() {
        return Err(format!("the guest agent does not build:\n{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let embedded = out.join("retrace-guest");
    fs::copy(&built, &embedded).map_err(|error| format!("cannot copy {}: {error}", built.display()))?;
    let mut hasher = DefaultHasher::new();
    fs::read(&embedded)?.hash(&mut hasher);
    println!("cargo::rustc-env=RETRACE_GUEST_BINARY={}", embedded.display());
    println!("cargo::rustc-env=RETRACE_GUEST_HASH={:016x}", hasher.finish());
    Ok(())
}

fn build(guest: &Path, target: &str, target_dir: &Path, network: &[&str]) -> Result<Output, Box<dyn Error>> {
    let mut cargo = Command::new(variable("CARGO")?);
    cargo.current_dir(guest);
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let outer = text.starts_with("CARGO") && !KEPT.iter().any(|kept| text.starts_with(kept));
        if outer || DROPPED.contains(&&*text) {
            cargo.env_remove(&name);
        }
    }
    cargo
        .env("CARGO_ENCODED_RUSTFLAGS", "-Ctarget-feature=+crt-static")
        .args(["build", "--quiet", "--bin", "retrace-guest", "--release", "--target", target, "--target-dir"])
        .arg(target_dir)
        .args(network);
    for setting in PROFILE {
        cargo.args(["--config", setting]);
    }
    cargo.output().map_err(|error| format!("cannot run cargo: {error}").into())
}

/// The default image's tag: its recipe's hash, as `image/build` computes it.
fn image_tag(dir: &Path) -> Result<String, Box<dyn Error>> {
    let mut hasher = Sha256::new();
    for part in ["Containerfile", "build"] {
        let path = dir.join(part);
        println!("cargo::rerun-if-changed={}", path.display());
        hasher.update(fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?);
    }
    Ok(hasher.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect())
}

fn variable(name: &str) -> Result<String, Box<dyn Error>> {
    env::var(name).map_err(|error| format!("{name}: {error}").into())
}
