//! Which of the kernel's calls a command may not make, as a program for seccomp: those that take memory which no limit counts (memory files, System V
//! memory and queues, keys, rings), those that make namespaces and mounts, and those that reach into other processes.

/// One instruction: code, how far to jump if so and if not, operand.
type Instruction = (u16, u8, u8, u32);

const LOAD: u16 = 0x20;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const JUMP_IF_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const KILL_PROCESS: u32 = 0x8000_0000;
const ERROR: u32 = 0x0005_0000;
const NOT_PERMITTED: u32 = 1;
const NO_SUCH_CALL: u32 = 38;

/// Where the number of the call, the architecture and the first argument are.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;

/// The flags of `clone` that make namespaces.
const NEW_NAMESPACES: u32 = 0x7e02_0000;

/// The calls of one architecture.
struct Calls {
    architecture: u32,
    clone: u32,
    /// The numbers from which on calls belong to another architecture, if there are any.
    foreign_from: Option<u32>,
    refused: &'static [u32],
}

/// `clone3` passes its flags where a filter cannot look; programs fall back on `clone` where it is missing.
const CLONE3: u32 = 435;

#[cfg(target_arch = "x86_64")]
const CALLS: Option<Calls> = Some(Calls {
    architecture: 0xc000_003e,
    clone: 56,
    foreign_from: Some(0x4000_0000),
    refused: &[
        319, 447, 323, // memfd_create, memfd_secret, userfaultfd
        29, 30, 31, 64, 68, 240, // shmget, shmat, shmctl, semget, msgget, mq_open
        248, 249, 250, // add_key, request_key, keyctl
        425, 426, 427, 321, 298, // io_uring_setup, io_uring_enter, io_uring_register, bpf, perf_event_open
        272, 308, 155, 161, 165, 166, // unshare, setns, pivot_root, chroot, mount, umount2
        428, 429, 430, 431, 432, 433,
        442, // open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr
        101, 310, 311, 438, // ptrace, process_vm_readv, process_vm_writev, pidfd_getfd
    ],
});

#[cfg(target_arch = "aarch64")]
const CALLS: Option<Calls> = Some(Calls {
    architecture: 0xc000_00b7,
    clone: 220,
    foreign_from: None,
    refused: &[
        279, 447, 282, // memfd_create, memfd_secret, userfaultfd
        194, 195, 196, 190, 186, 180, // shmget, shmctl, shmat, semget, msgget, mq_open
        217, 218, 219, // add_key, request_key, keyctl
        425, 426, 427, 280, 241, // io_uring_setup, io_uring_enter, io_uring_register, bpf, perf_event_open
        97, 268, 41, 51, 40, 39, // unshare, setns, pivot_root, chroot, mount, umount2
        428, 429, 430, 431, 432, 433,
        442, // open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr
        117, 270, 271, 438, // ptrace, process_vm_readv, process_vm_writev, pidfd_getfd
    ],
});

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const CALLS: Option<Calls> = None;

/// Returns the program in the form in which the kernel takes it; nothing for a machine whose calls are not known here.
pub(crate) fn program() -> Option<Vec<u8>> {
    let calls = CALLS?;
    let mut program: Vec<Instruction> = vec![
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_IF_EQUAL, 1, 0, calls.architecture),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER),
    ];
    if let Some(foreign) = calls.foreign_from {
        program.extend([(JUMP_IF_AT_LEAST, 0, 1, foreign), (RETURN, 0, 0, KILL_PROCESS)]);
    }
    for call in calls.refused {
        program.extend([(JUMP_IF_EQUAL, 0, 1, *call), (RETURN, 0, 0, ERROR | NOT_PERMITTED)]);
    }
    program.extend([
        (JUMP_IF_EQUAL, 0, 1, CLONE3),
        (RETURN, 0, 0, ERROR | NO_SUCH_CALL),
        (JUMP_IF_EQUAL, 0, 3, calls.clone),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (JUMP_IF_ANY_BIT, 0, 1, NEW_NAMESPACES),
        (RETURN, 0, 0, ERROR | NOT_PERMITTED),
        (RETURN, 0, 0, ALLOW),
    ]);
    let bytes = |(code, yes, no, operand): Instruction| {
        let (code, operand) = (code.to_ne_bytes(), operand.to_ne_bytes());
        [code[0], code[1], yes, no, operand[0], operand[1], operand[2], operand[3]]
    };
    Some(program.into_iter().flat_map(bytes).collect())
}
