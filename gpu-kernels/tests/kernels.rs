//! Every kernel against the same computation on the host, on pseudo-random data, at lengths around a block's.

use gpu_kernels::{Number, fill, map, sum, sum_of, zip_map};
use oxwarp::{DeviceArray, Gpu, Kernel, Result, launch};

gpu_macros::device_code!();

const LENGTHS: [usize; 6] = [0, 1, 255, 256, 257, 100_003];

/// Pseudo-random bits (splitmix64).
fn random(len: usize) -> impl Iterator<Item = u64> {
    (1..=len as u64).map(|i| {
        let mut z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// Numbers from -1 to 1.
fn random_floats(len: usize) -> Vec<f32> {
    random(len)
        .map(|z| (z as i64 as f64 / 2f64.powi(63)) as f32)
        .collect()
}

#[test]
fn fill_writes_all_and_only_the_array() -> Result<()> {
    let gpu = Gpu::new()?;
    for len in LENGTHS {
        let mut x = gpu.zeros::<(u8, u64)>(len)?;
        fill.for_each(len).launch((3, u64::MAX), &mut x)?;
        assert_eq!(x.to_vec()?, vec![(3, u64::MAX); len]);
    }
    Ok(())
}

#[test]
fn map_is_the_hosts_map() -> Result<()> {
    let gpu = Gpu::new()?;
    let (scale, offset) = (3.5, -1i64);
    let f = move |x: f32| (f64::from(x) * scale) as i64 + offset;
    for len in LENGTHS {
        let host = random_floats(len);
        let x = gpu.to_device(&host)?;
        let mut out = gpu.zeros::<i64>(len)?;
        map.for_each(len).launch(f, &x, &mut out)?;
        assert_eq!(
            out.to_vec()?,
            host.iter().map(|&x| f(x)).collect::<Vec<_>>()
        );
    }
    Ok(())
}

#[test]
fn two_closures_of_one_function_are_two_kernels() -> Result<()> {
    let gpu = Gpu::new()?;
    let x = gpu.to_device(&[1u32, 2, 3])?;
    let mut y = gpu.zeros::<u32>(3)?;
    map.for_each(3).launch(|x| x + 1, &x, &mut y)?;
    assert_eq!(y.to_vec()?, [2, 3, 4]);
    map.for_each(3).launch(|x| x * 10, &x, &mut y)?;
    assert_eq!(y.to_vec()?, [10, 20, 30]);
    Ok(())
}

#[test]
fn zip_map_is_the_hosts_zip() -> Result<()> {
    let gpu = Gpu::new()?;
    for len in LENGTHS {
        let a = random_floats(len);
        let b: Vec<u32> = random(len).map(|z| z as u32 % 100).collect();
        let f = |a: f32, b: u32| {
            if a < 0.0 {
                u64::from(b)
            } else {
                u64::from(b) << 40
            }
        };
        let mut out = gpu.zeros::<u64>(len)?;
        zip_map
            .for_each(len)
            .launch(f, &gpu.to_device(&a)?, &gpu.to_device(&b)?, &mut out)?;
        let expected: Vec<_> = a.iter().zip(&b).map(|(&a, &b)| f(a, b)).collect();
        assert_eq!(out.to_vec()?, expected);
    }
    Ok(())
}

#[test]
fn a_small_grid_does_all_elements() -> Result<()> {
    let gpu = Gpu::new()?;
    let host = random_floats(100_003);
    let x = gpu.to_device(&host)?;
    let mut out = gpu.zeros::<f32>(host.len())?;
    launch!(map[3, 33](|x: f32| -x, &x, &mut out))?;
    assert!(out.to_vec()?.iter().zip(&host).all(|(out, x)| *out == -x));
    Ok(())
}

#[test]
fn an_input_that_is_too_short_is_an_error() -> Result<()> {
    let gpu = Gpu::new()?;
    let x = gpu.to_device(&[1.0f32; 10])?;
    let mut out = gpu.zeros::<f32>(11)?;
    map.for_each(11).launch(|x: f32| x, &x, &mut out)?;
    let error = out.to_vec().unwrap_err().to_string();
    assert!(
        error.contains("the len is 10 but the index is 10"),
        "{error}"
    );
    Ok(())
}

#[test]
fn integers_add_up_exactly() -> Result<()> {
    fn check<T: Number + PartialEq + std::fmt::Debug>(
        of: impl Fn(u64) -> T,
        plus: impl Fn(T, T) -> T,
    ) -> Result<()> {
        let gpu = Gpu::new()?;
        for len in LENGTHS {
            let host: Vec<T> = random(len).map(&of).collect();
            let expected = host.iter().copied().fold(of(0), &plus);
            assert_eq!(sum_of(&gpu.to_device(&host)?)?, expected, "length {len}");
        }
        Ok(())
    }
    check(|z| z as i32, i32::wrapping_add)?;
    check(|z| z as u32, u32::wrapping_add)?;
    check(|z| z as i64, i64::wrapping_add)?;
    check(|z| z, u64::wrapping_add)
}

#[test]
fn floats_add_up_within_their_rounding() -> Result<()> {
    let gpu = Gpu::new()?;
    for len in LENGTHS {
        let host = random_floats(len);
        let doubles: Vec<f64> = host.iter().copied().map(f64::from).collect();
        let (exact, size): (f64, f64) =
            (doubles.iter().sum(), doubles.iter().map(|x| x.abs()).sum());
        // A sum passes through at most 20 additions at these lengths, each of which rounds by half an epsilon.
        let single = f64::from(sum_of(&gpu.to_device(&host)?)?);
        assert!(
            (single - exact).abs() <= 10.0 * f64::from(f32::EPSILON) * size,
            "{single} {exact}"
        );
        let double = sum_of(&gpu.to_device(&doubles)?)?;
        // The reference adds one by one.
        let bound = (len + 20) as f64 * f64::EPSILON * size;
        assert!((double - exact).abs() <= bound, "{double} {exact}");
    }
    Ok(())
}

#[test]
fn any_block_size_sums() -> Result<()> {
    let gpu = Gpu::new()?;
    let host: Vec<u32> = random(10_007).map(|z| z as u32).collect();
    let expected = host.iter().copied().fold(0, u32::wrapping_add);
    let x: DeviceArray<u32> = gpu.to_device(&host)?;
    for (grid, block) in [
        (1, 1),
        (3, 2),
        (5, 31),
        (2, 96),
        (7, 255),
        (1, 1000),
        (2, 1024),
    ] {
        let mut partial = gpu.zeros::<u32>(grid)?;
        launch!(sum[grid, block](&x, &mut partial))?;
        let total = partial.to_vec()?.into_iter().fold(0, u32::wrapping_add);
        assert_eq!(total, expected, "{grid} blocks of {block}");
    }
    Ok(())
}
