//! The sandboxes: each backend started in a folder of its own, proven and ended; and why one cannot be used, with the fix.

use super::{Finding, Health, finding};
use crate::agent::SandboxSetup;
use crate::cli::exit::CliError;
use crate::cli::render::clean;
use crate::cli::setup::Setup;
use retrace_sandbox::{Proof, SandboxChoice, SandboxError, Surveyed, Usable, survey};
use std::path::{Path, PathBuf};

/// What there is to say about sandboxes; their probes try to break out.
pub(super) async fn look(setup: &Setup) -> Vec<Finding> {
    let wanted = setup.config.values.sandbox.value;
    if wanted == SandboxChoice::None {
        let hint = Some("commands run as you; --sandbox auto isolates them".to_owned());
        return vec![Finding { hint, ..finding(Health::Warn, "sandbox", "none, as configured") }];
    }
    let folder = match tempfile::tempdir_in(parent_of(&setup.config.folders.cache)) {
        Ok(folder) => folder,
        Err(error) => {
            return vec![finding(Health::Fail, "sandbox", format!("cannot make a folder to try it in: {error}"))];
        }
    };
    let sandboxes = SandboxSetup::of(&setup.config.values);
    let policy = match sandboxes.policy(folder.path()) {
        Ok(policy) => policy,
        Err(error) => return vec![failure(Health::Fail, "sandbox", error)],
    };
    let guest_dir = setup.config.folders.state.join("guest");
    let surveyed = survey(&policy, &sandboxes.limits, &guest_dir).await;
    let mut findings = vec![verdict(wanted, &surveyed)];
    findings.extend(surveyed.into_iter().flat_map(|tried| described(wanted, tried)));
    findings
}

/// Whether what is asked for can be had: the strongest of those that may be taken.
fn verdict(wanted: SandboxChoice, surveyed: &[Surveyed]) -> Finding {
    let may_be = |tried: &&Surveyed| wanted == SandboxChoice::Auto || wanted.as_str() == tried.backend;
    let taken = surveyed.iter().filter(may_be).find(|tried| tried.outcome.is_ok());
    match taken {
        Some(tried) => finding(Health::Ok, "sandbox", format!("{} (asked for: {wanted})", tried.backend)),
        None => finding(Health::Fail, "sandbox", format!("none can be had (asked for: {wanted}); see below")),
    }
}

/// A backend with everything that was proven of it, or with what is in the way.
fn described(wanted: SandboxChoice, tried: Surveyed) -> Vec<Finding> {
    let name = match tried.backend {
        "krun" => "  krun",
        "container" => "  container",
        _ => "  process",
    };
    match tried.outcome {
        Ok(usable) => {
            let mut findings = vec![finding(Health::Ok, name, measured(&usable))];
            findings.extend(usable.proofs.iter().map(proof));
            findings
        }
        Err(error) => {
            let proofs: Vec<Finding> = match &error {
                SandboxError::NotIsolated { proofs, .. } => proofs.iter().map(proof).collect(),
                _ => Vec::new(),
            };
            // What nobody asked for by name need not be there.
            let health = if wanted.as_str() == tried.backend { Health::Fail } else { Health::Warn };
            std::iter::once(failure(health, name, error)).chain(proofs).collect()
        }
    }
}

/// `container: hello after 180 ms, proven in 90 ms, gone in 120 ms, kernel 6.1`.
fn measured(usable: &Usable) -> String {
    let Usable { level, kernel, launch_ms, probe_ms, shutdown_ms, proofs } = usable;
    format!(
        "{level}: started in {launch_ms:.0} ms, {} proofs in {probe_ms:.0} ms, ended in {shutdown_ms:.0} ms, kernel {}",
        proofs.len(),
        clean::short(kernel, 60)
    )
}

fn failure(health: Health, what: &'static str, error: SandboxError) -> Finding {
    let error = CliError::from(error);
    // Who reads this has called the doctor already.
    let hint = error.hint.filter(|hint| !hint.contains("retrace doctor"));
    Finding { hint, ..finding(health, what, clean::short(&error.message, 400)) }
}

fn proof(proof: &Proof) -> Finding {
    let health = if proof.passed { Health::Ok } else { Health::Fail };
    finding(health, "    proof", format!("{}: {}", clean::line(&proof.name), clean::short(&proof.detail, 120)))
}

/// The next folder upwards that exists and can hold a temporary folder.
fn parent_of(folder: &Path) -> PathBuf {
    if std::fs::create_dir_all(folder).is_ok() { folder.to_owned() } else { std::env::temp_dir() }
}
