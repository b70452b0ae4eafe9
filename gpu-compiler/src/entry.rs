//! What is kept in the [cache](crate::cache): the images of a kernel, and those of what kernels share.

use crate::cache::{Entry, pack, unpack};
use crate::constants::Constant;
use crate::one_kernel::{self, Compiled};
use crate::report::Report;
use crate::shared_code::{self, Facts};

impl Entry for Compiled {
    fn to_bytes(&self) -> Option<Vec<u8>> {
        match self {
            Compiled::Images(images) => {
                let images: Vec<Vec<u8>> = images.iter().map(kernel_to_bytes).collect();
                Some(pack_all(&images))
            }
            Compiled::Wrong(_) => None,
        }
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let images = unpack(bytes)?.into_iter().map(kernel_from_bytes);
        Some(Compiled::Images(images.collect::<Option<_>>()?))
    }
}

/// The images of what kernels share.
pub struct Shared(pub Vec<shared_code::Image>);

impl Entry for Shared {
    fn to_bytes(&self) -> Option<Vec<u8>> {
        let images: Vec<Vec<u8>> = self.0.iter().map(shared_to_bytes).collect();
        Some(pack_all(&images))
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let images = unpack(bytes)?.into_iter().map(shared_from_bytes);
        Some(Shared(images.collect::<Option<_>>()?))
    }
}

fn pack_all(parts: &[Vec<u8>]) -> Vec<u8> {
    pack(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn kernel_to_bytes(image: &one_kernel::Image) -> Vec<u8> {
    let kernel = Report {
        kernels: vec![image.kernel.clone()],
        ..Report::default()
    };
    let constants = lines(&image.constants, |Constant { symbol, bytes }| {
        format!("{symbol}\t{bytes}")
    });
    pack(&[
        kernel.to_text().as_bytes(),
        image.ptx.as_bytes(),
        constants.as_bytes(),
        lines(&image.linked, String::clone).as_bytes(),
        lines(&image.shared, String::clone).as_bytes(),
    ])
}

fn kernel_from_bytes(bytes: &[u8]) -> Option<one_kernel::Image> {
    let [kernel, ptx, constants, linked, shared] = texts(bytes)?;
    let constant = |line: &str| {
        let (symbol, bytes) = line.split_once('\t')?;
        Some(Constant {
            symbol: symbol.into(),
            bytes: bytes.parse().ok()?,
        })
    };
    Some(one_kernel::Image {
        kernel: Report::parse(&kernel)?.kernels.pop()?,
        ptx,
        constants: constants.lines().map(constant).collect::<Option<_>>()?,
        linked: linked.lines().map(String::from).collect(),
        shared: shared.lines().map(String::from).collect(),
    })
}

fn shared_to_bytes(image: &shared_code::Image) -> Vec<u8> {
    let functions = lines(&image.functions, |function| {
        let Facts {
            symbol,
            deep_stack,
            prints,
            allocates,
        } = function;
        format!("{symbol}\t{deep_stack}\t{prints}\t{allocates}")
    });
    pack(&[image.ptx.as_bytes(), functions.as_bytes()])
}

fn shared_from_bytes(bytes: &[u8]) -> Option<shared_code::Image> {
    let [ptx, functions] = texts(bytes)?;
    let facts = |line: &str| {
        let [symbol, deep_stack, prints, allocates] =
            line.split('\t').collect::<Vec<_>>().try_into().ok()?;
        Some(Facts {
            symbol: symbol.into(),
            deep_stack: deep_stack.parse().ok()?,
            prints: prints.parse().ok()?,
            allocates: allocates.parse().ok()?,
        })
    };
    let functions = functions.lines().map(facts).collect::<Option<_>>()?;
    Some(shared_code::Image { ptx, functions })
}

fn lines<T>(items: &[T], line: impl Fn(&T) -> String) -> String {
    items.iter().map(|item| line(item) + "\n").collect()
}

fn texts<const COUNT: usize>(bytes: &[u8]) -> Option<[String; COUNT]> {
    let texts = unpack(bytes)?
        .into_iter()
        .map(|text| String::from_utf8(text.to_vec()).ok());
    texts.collect::<Option<Vec<_>>>()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report;

    #[test]
    fn images_survive_their_bytes() {
        let kernel = report::Kernel {
            id: 5,
            symbol: "k_5".into(),
            dimensions: 1,
            cooperative: false,
            shared_bytes: 64,
            deep_stack: false,
            prints: true,
            allocates: false,
        };
        let image = |ptx: &str| one_kernel::Image {
            kernel: kernel.clone(),
            ptx: ptx.into(),
            constants: vec![Constant {
                symbol: "c".into(),
                bytes: 68,
            }],
            linked: vec![],
            shared: vec!["f".into(), "g".into()],
        };
        let compiled = Compiled::Images(vec![image("one\n"), image("")]);
        let bytes = compiled.to_bytes().unwrap();
        assert_eq!(Compiled::from_bytes(&bytes), Some(compiled));
        assert_eq!(Compiled::from_bytes(&bytes[1..]), None);
        let facts = Facts {
            symbol: "f".into(),
            prints: true,
            ..Facts::default()
        };
        let shared = Shared(vec![shared_code::Image {
            ptx: "p".into(),
            functions: vec![facts.clone(), facts],
        }]);
        assert_eq!(
            Shared::from_bytes(&shared.to_bytes().unwrap()).unwrap().0,
            shared.0
        );
        assert_eq!(Compiled::Wrong(vec![]).to_bytes(), None);
    }
}
