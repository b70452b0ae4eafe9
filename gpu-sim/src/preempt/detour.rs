//! The way around on which an interrupted thread leaves its code, and comes back to the same instruction.

use std::arch::{naked_asm, x86_64::__cpuid_count};

use super::end_turn;

/// The parts of the processor's state that are saved: all vectors and masks.
const STATE: u32 = 0b1110_0111;
/// Bytes that they may take, with their header.
const STATE_BYTES: u32 = 2816;
/// Bytes below the stack pointer that the interrupted function may use.
pub(super) const RED_ZONE: usize = 128;

/// Whether the processor can save its state, in the room that there is.
pub(super) fn is_possible() -> bool {
    let fits = |part: &u32| {
        let layout = __cpuid_count(0xD, *part);
        STATE & (1 << part) == 0 || layout.eax + layout.ebx <= STATE_BYTES
    };
    is_x86_feature_detected!("xsave") && (2..8).all(|part| fits(&part))
}

/// As if the interrupted code had called it: the return address is its next instruction, below its red zone.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn trampoline() {
    naked_asm!(
        ".cfi_startproc",
        // The return address is that of an instruction that has not run, and not behind a call.
        ".cfi_signal_frame",
        ".cfi_def_cfa rsp, 136",
        ".cfi_offset rip, -136",
        "pushfq",
        ".cfi_adjust_cfa_offset 8",
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_offset rbp, -152",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push rbx",
        ".cfi_offset rbx, -160",
        "push r12",
        ".cfi_offset r12, -168",
        "push r13",
        ".cfi_offset r13, -176",
        "push r14",
        ".cfi_offset r14, -184",
        "push r15",
        ".cfi_offset r15, -192",
        "push r10",
        // A function that aligns its stack may find its caller's by this one.
        ".cfi_offset r10, -200",
        "push rax",
        "push rcx",
        "push rdx",
        "push rsi",
        "push rdi",
        "push r8",
        "push r9",
        "push r11",
        "cld",
        "sub rsp, {state_bytes}",
        "and rsp, -64",
        // The header must be zeros where `xsave` does not write.
        "xor eax, eax",
        "mov [rsp + 512], rax",
        "mov [rsp + 520], rax",
        "mov [rsp + 528], rax",
        "mov [rsp + 536], rax",
        "mov [rsp + 544], rax",
        "mov [rsp + 552], rax",
        "mov [rsp + 560], rax",
        "mov [rsp + 568], rax",
        "mov eax, {state}",
        "xor edx, edx",
        "xsave64 [rsp]",
        "mov rdi, [rbp + 16]",
        "call {end_turn}",
        "mov eax, {state}",
        "xor edx, edx",
        "xrstor64 [rsp]",
        "lea rsp, [rbp - 112]",
        "pop r11",
        "pop r9",
        "pop r8",
        "pop rdi",
        "pop rsi",
        "pop rdx",
        "pop rcx",
        "pop rax",
        "pop r10",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "popfq",
        "ret {red_zone}",
        ".cfi_endproc",
        state_bytes = const STATE_BYTES,
        state = const STATE,
        red_zone = const RED_ZONE,
        end_turn = sym end_turn,
    )
}
