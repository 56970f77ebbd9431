//! The system call filter: a deny-list in the manner of Docker's and Flatpak's defaults.
//!
//! Compilers, package managers and test suites must work, so what is denied is what administers the kernel, looks
//! into other processes, makes namespaces, or is known for opening holes. Denied calls fail with `EPERM`; those for
//! which programs have a fallback fail with `ENOSYS`.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use crate::error::SandboxError;

/// Always denied.
const DENIED: &[i64] = &[
    // Mounts.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_quotactl,
    libc::SYS_open_by_handle_at,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_setns,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_fanotify_init,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // Key rings are not part of any namespace.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
];

/// Those that only exist on this processor.
#[cfg(target_arch = "x86_64")]
const DENIED_HERE: &[i64] =
    &[libc::SYS_kexec_file_load, libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS_uselib];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_HERE: &[i64] = &[];

/// Programs fall back to older calls when these do not exist. `clone3` hides its flags from filters.
const ABSENT: [i64; 4] =
    [libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// Flags that ask for a new namespace. Only `unshare` knows the last one; for `clone` it is part of the signal.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
const NEW_TIME_NAMESPACE: i32 = 0x80;

/// Calls that change a file's mode, and which argument that is. A command must not make a program that runs with its
/// owner's rights: in the workspace that owner is the host's user, and whoever runs it there would become that user.
/// (Files that are born so stay empty: whatever fills them takes the bit away. A group's bit on folders is in common use.)
const MODE_CHANGES: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
];
/// Newer than the list of names.
const FCHMODAT2: i64 = 452;

/// Pushing characters into a terminal's input, also through its console.
const TERMINAL_TRICKS: [u64; 2] = [0x5412, 0x541c];
/// Families of sockets that programs need even without a network.
const SOCKET_FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
/// The only netlink protocol that ordinary programs use (to list interfaces).
const NETLINK_ROUTE: u64 = 0;

/// From here on, numbers are of the x32 interface, which would be a way around the list.
const X32_BIT: u32 = 0x4000_0000;

/// The filter, as the bytes that bubblewrap reads.
pub(crate) fn filter() -> Result<Vec<u8>, SandboxError> {
    let program = program().map_err(|error| SandboxError::Seccomp { detail: error.to_string() })?;
    let mut bytes = Vec::with_capacity(program.len() * 8);
    for instruction in program {
        bytes.extend(instruction.code.to_ne_bytes());
        bytes.extend([instruction.jt, instruction.jf]);
        bytes.extend(instruction.k.to_ne_bytes());
    }
    Ok(bytes)
}

fn program() -> Result<BpfProgram, seccompiler::BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let deny = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let filter: BpfProgram = SeccompFilter::new(rules()?, SeccompAction::Allow, deny, arch)?.try_into()?;
    let mut program = absent_calls();
    program.extend(filter);
    Ok(program)
}

fn rules() -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    // No rule means: whatever the arguments.
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        DENIED.iter().chain(DENIED_HERE).map(|call| (*call, Vec::new())).collect();
    let flags = |names: &[i32]| -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
        names.iter().map(|flag| has_flag(u64::from(flag.cast_unsigned()))).collect()
    };
    rules.insert(libc::SYS_clone, flags(&NAMESPACES)?);
    rules.insert(libc::SYS_unshare, flags(&[&NAMESPACES[..], &[NEW_TIME_NAMESPACE]].concat())?);
    let tricks = TERMINAL_TRICKS.iter().map(|trick| SeccompRule::new(vec![argument(1, SeccompCmpOp::Eq, *trick)?]));
    rules.insert(libc::SYS_ioctl, tricks.collect::<Result<_, _>>()?);
    let set_user_id = u64::from(libc::S_ISUID);
    for (call, mode) in MODE_CHANGES {
        let rule = SeccompRule::new(vec![argument(*mode, SeccompCmpOp::MaskedEq(set_user_id), set_user_id)?])?;
        rules.insert(*call, vec![rule]);
    }
    rules.insert(libc::SYS_socket, socket_rules()?);
    rules.insert(libc::SYS_socketpair, socket_rules()?);
    Ok(rules)
}

fn socket_rules() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let families = SOCKET_FAMILIES.map(|family| u64::from(family.cast_unsigned()));
    let other = families.iter().map(|family| argument(0, SeccompCmpOp::Ne, *family)).collect::<Result<Vec<_>, _>>()?;
    let netlink = u64::from(libc::AF_NETLINK.cast_unsigned());
    let odd_netlink = vec![argument(0, SeccompCmpOp::Eq, netlink)?, argument(2, SeccompCmpOp::Ne, NETLINK_ROUTE)?];
    Ok(vec![SeccompRule::new(other)?, SeccompRule::new(odd_netlink)?])
}

fn has_flag(flag: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![argument(0, SeccompCmpOp::MaskedEq(flag), flag)?])
}

/// The kernel looks at the lower half of these arguments only, so the filter does too.
fn argument(index: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value)
}

/// Instructions in front of the filter (it has a single outcome for all its rules): these calls do not exist.
fn absent_calls() -> BpfProgram {
    const LOAD_NUMBER: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS, offset 0: the call's number
    const JUMP_EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
    const JUMP_AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
    const RETURN: u16 = 0x06; // BPF_RET | BPF_K
    let return_absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    let mut program = vec![sock_filter { code: LOAD_NUMBER, jt: 0, jf: 0, k: 0 }];
    let tests = ABSENT.iter().map(|call| (JUMP_EQUAL, u32::try_from(*call).unwrap_or(u32::MAX)));
    let x32 = cfg!(target_arch = "x86_64").then_some((JUMP_AT_LEAST, X32_BIT));
    for (code, k) in tests.chain(x32) {
        // Falls through to the return when it matches, else skips it.
        program.push(sock_filter { code, jt: 0, jf: 1, k });
        program.push(sock_filter { code: RETURN, jt: 0, jf: 0, k: return_absent });
    }
    program
}
