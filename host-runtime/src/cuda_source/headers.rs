//! The headers of cubins and fatbins: whether all that they name is there, and for which GPU it is.

/// The first four bytes of a fatbin.
pub(super) const FATBIN: u32 = 0xba55_ed50;
/// `EM_CUDA`.
const EM_CUDA: u16 = 190;
/// Bytes of the header of a 64-bit ELF file.
const ELF_HEADER: usize = 64;
/// `SHT_NOBITS`: a section without bytes in the file.
const NO_BITS: u32 = 8;

/// An integer in little-endian order, if it is within the bytes.
fn read<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let field: [u8; N] = bytes.get(at..at.checked_add(N)?)?.try_into().ok()?;
    let mut wide = [0; 8];
    wide[..N].copy_from_slice(&field);
    Some(u64::from_le_bytes(wide))
}

/// Checks that header, segments and sections are within the file.
pub(super) fn elf_is_whole(bytes: &[u8]) -> std::result::Result<(), String> {
    let cut = || format!("it is cut off after {} bytes", bytes.len());
    if bytes.len() < ELF_HEADER {
        return Err(cut());
    }
    let (class, machine) = (bytes[4], read::<2>(bytes, 18));
    if class != 2 || machine != Some(EM_CUDA.into()) {
        return Err("it is an ELF file, but not of 64-bit code for a GPU".to_owned());
    }
    let table = |start, entry, count| {
        let of = (
            read::<8>(bytes, start)?,
            read::<2>(bytes, entry)?,
            read::<2>(bytes, count)?,
        );
        let end = of.0.checked_add(of.1 * of.2)?;
        (end <= bytes.len() as u64).then_some(of)
    };
    let segments = table(32, 54, 56).ok_or_else(cut)?;
    let sections = table(40, 58, 60).ok_or_else(cut)?;
    let within = |offset: Option<u64>, size: Option<u64>| {
        let end = offset?.checked_add(size?)?;
        (end <= bytes.len() as u64).then_some(())
    };
    for number in 0..segments.2 {
        let at = (segments.0 + number * segments.1) as usize;
        within(read::<8>(bytes, at + 8), read::<8>(bytes, at + 32)).ok_or_else(cut)?;
    }
    for number in 0..sections.2 {
        let at = (sections.0 + number * sections.1) as usize;
        if read::<4>(bytes, at + 4) != Some(NO_BITS.into()) {
            within(read::<8>(bytes, at + 24), read::<8>(bytes, at + 32)).ok_or_else(cut)?;
        }
    }
    Ok(())
}

/// The number of a cubin's `sm`: the flags of its header have it in the second byte since CUDA 13, and in the first before.
pub(super) fn elf_target(bytes: &[u8]) -> Option<u32> {
    let flags = read::<4>(bytes, 48)? as u32;
    let abi = *bytes.get(8)?;
    let target = if abi >= 8 { flags >> 8 } else { flags } & 0xff;
    (target != 0).then_some(target)
}

/// Checks that all of the fatbin is there.
pub(super) fn fatbin_is_whole(bytes: &[u8]) -> std::result::Result<(), String> {
    let header = read::<2>(bytes, 6);
    let size = read::<8>(bytes, 8);
    let whole = header
        .zip(size)
        .and_then(|(header, size)| header.checked_add(size));
    match whole {
        Some(whole) if whole <= bytes.len() as u64 => Ok(()),
        Some(whole) => Err(format!(
            "it is a fatbin of {whole} bytes, cut off after {}",
            bytes.len()
        )),
        None => Err(format!(
            "it is a fatbin, cut off after {} bytes",
            bytes.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cubin of one section, whose contents are at `offset`, and of one segment, with `size` bytes from there.
    fn cubin(abi: u8, flags: u32, offset: u64, size: u64) -> Vec<u8> {
        let mut bytes = vec![0; ELF_HEADER + 64 + 56 + 10];
        let mut write =
            |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        write(0, b"\x7fELF\x02\x01\x01\x41");
        write(8, &[abi]);
        write(18, &EM_CUDA.to_le_bytes());
        // Where the tables are, the sizes of their entries, and how many there are.
        write(32, &(ELF_HEADER as u64 + 64).to_le_bytes());
        write(40, &(ELF_HEADER as u64).to_le_bytes());
        write(48, &flags.to_le_bytes());
        for (at, value) in [(54, 56u16), (56, 1), (58, 64), (60, 1)] {
            write(at, &value.to_le_bytes());
        }
        write(ELF_HEADER + 24, &offset.to_le_bytes());
        write(ELF_HEADER + 32, &size.to_le_bytes());
        write(ELF_HEADER + 64 + 8, &184u64.to_le_bytes());
        write(ELF_HEADER + 64 + 32, &10u64.to_le_bytes());
        bytes
    }

    #[test]
    fn the_header_says_what_a_cubin_is_for() {
        let target = |abi, flags| elf_target(&cubin(abi, flags, 184, 10));
        assert_eq!(target(8, 0x0600_5a04), Some(90));
        assert_eq!(target(7, 0x0050_0550), Some(80));
        assert_eq!(target(8, 0), None);
    }

    #[test]
    fn what_lies_beyond_the_end_is_missing() {
        let is_whole = |bytes: &[u8]| elf_is_whole(bytes).is_ok();
        let whole = cubin(8, 90 << 8, 184, 10);
        assert!(is_whole(&whole));
        for (offset, size) in [(184, 11), (195, 0), (u64::MAX, 2), (0, u64::MAX)] {
            assert!(
                !is_whole(&cubin(8, 90 << 8, offset, size)),
                "{offset} {size}"
            );
        }
        // A section without contents may say any size.
        let mut empty = cubin(8, 90 << 8, 184, 1 << 20);
        empty[ELF_HEADER + 4] = NO_BITS as u8;
        assert!(is_whole(&empty));
        // A segment beyond the end, and tables beyond it.
        for (at, value) in [
            (ELF_HEADER + 64 + 32, 11u64),
            (32, 180),
            (40, 180),
            (40, u64::MAX),
        ] {
            let mut wrong = whole.clone();
            wrong[at..at + 8].copy_from_slice(&value.to_le_bytes());
            assert!(!is_whole(&wrong), "{at}");
        }
        for (at, value) in [(4, 1), (18, 62)] {
            let mut other = whole.clone();
            other[at] = value;
            let error = elf_is_whole(&other).unwrap_err();
            assert!(error.contains("not of 64-bit code for a GPU"), "{error}");
        }
    }
}
