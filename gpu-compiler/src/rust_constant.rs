//! Constants of Rust's in the bitcode: numbers, texts and pointers at the offsets where rustc puts them.
//!
//! What the crate leaves for this compiler (records of kernels, tables, keys), and the places of panics.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::llvm::{self, Value};

/// The bits of the `TypeId` that a constant pointer points to.
pub fn type_id(pointer: Value) -> Result<u128, Error> {
    let initializer = llvm::is_global_variable(pointer).and_then(llvm::initializer);
    Constant::of(initializer.ok_or(malformed("a key"))?)?.u128(0)
}

/// The bytes that a constant pointer points to, where there are no pointers among them.
pub fn bytes(pointer: Value) -> Option<Vec<u8>> {
    let initializer = llvm::initializer(llvm::is_global_variable(pointer)?)?;
    Some(Constant::of(initializer).ok()?.bytes)
}

/// A constant as rustc lays it out: bytes, and pointers at some offsets.
pub struct Constant {
    /// Zeros where a pointer is.
    pub bytes: Vec<u8>,
    pointers: BTreeMap<usize, Value>,
}

impl Constant {
    /// Of a variable's initial value.
    pub fn of(initializer: Value) -> Result<Self, Error> {
        let mut constant = Constant {
            bytes: Vec::new(),
            pointers: BTreeMap::new(),
        };
        constant.push(initializer)?;
        Ok(constant)
    }

    fn push(&mut self, value: Value) -> Result<(), Error> {
        if llvm::is_constant_struct(value).is_some() {
            for index in 0..llvm::operand_count(value) as u32 {
                self.push(llvm::operand(value, index))?;
            }
        } else if llvm::is_constant_data(value).is_some() {
            self.bytes.extend_from_slice(data(value));
        } else if llvm::is_constant_zero(value).is_some() || llvm::is_undef(value) != 0 {
            // Padding is undefined.
            let length = llvm::array_length(llvm::type_of(value)) as usize;
            self.bytes.resize(self.bytes.len() + length, 0);
        } else if llvm::is_constant_expression(value).is_some()
            && llvm::const_opcode(value) == llvm::opcode::INT_TO_PTR
        {
            self.bytes
                .extend_from_slice(&llvm::zero_extended(llvm::operand(value, 0)).to_le_bytes());
        } else if llvm::type_kind(llvm::type_of(value)) == llvm::kind::POINTER {
            self.pointers.insert(self.bytes.len(), value);
            self.bytes.extend_from_slice(&[0; 8]);
        } else {
            return Err(malformed("a field of an unknown kind"));
        }
        Ok(())
    }

    /// A `u64` at `at`.
    pub fn u64(&self, at: usize) -> Result<u64, Error> {
        let bytes = self.bytes.get(at..at + 8).ok_or(malformed("its size"))?;
        Ok(bytes
            .iter()
            .rev()
            .fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    /// A `u128` at `at`.
    pub fn u128(&self, at: usize) -> Result<u128, Error> {
        Ok(u128::from(self.u64(at)?) | (u128::from(self.u64(at + 8)?) << 64))
    }

    /// A `u32` at `at`.
    pub fn u32(&self, at: usize) -> Result<u32, Error> {
        let bytes = self.bytes.get(at..at + 4).ok_or(malformed("its size"))?;
        Ok(bytes
            .iter()
            .rev()
            .fold(0, |value, &byte| value << 8 | u32::from(byte)))
    }

    /// All pointers, in their order.
    pub fn pointers(&self) -> Vec<Value> {
        self.pointers.values().copied().collect()
    }

    /// The pointer at `at`.
    pub fn pointer(&self, at: usize) -> Result<Value, Error> {
        self.pointers
            .get(&at)
            .copied()
            .ok_or(malformed("a pointer"))
    }

    /// A `&'static [usize]` at `at`.
    pub fn numbers(&self, at: usize) -> Result<Vec<u64>, Error> {
        let length = self.u64(at + 8)? as usize;
        if length == 0 {
            return Ok(Vec::new());
        }
        let initializer = llvm::initializer(self.pointer(at)?).ok_or(malformed("a list"))?;
        let numbers = Constant::of(initializer)?;
        (0..length).map(|index| numbers.u64(8 * index)).collect()
    }

    /// A `&'static str` at `at`.
    pub fn text(&self, at: usize) -> Result<String, Error> {
        let length = self.u64(at + 8)? as usize;
        let bytes = llvm::initializer(self.pointer(at)?)
            .and_then(llvm::is_constant_data)
            .map(data);
        let text = bytes
            .and_then(|bytes| bytes.get(..length))
            .ok_or(malformed("a text"))?;
        Ok(String::from_utf8_lossy(text).into_owned())
    }
}

/// The bytes of an array constant.
pub fn data(value: Value) -> &'static [u8] {
    let mut length = 0;
    // SAFETY: LLVM writes how many bytes the constant has, and constants live as long as the context.
    unsafe { std::slice::from_raw_parts(llvm::raw_data(value, &mut length), length) }
}

/// The error of a constant that is not laid out as it should be.
pub fn malformed(what: &'static str) -> Error {
    Error::Record { what }
}
