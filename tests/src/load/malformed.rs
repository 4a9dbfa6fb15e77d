//! Frames that are none.

use calib_core::wire::{self, FrameReader, MAX_FRAME, Request, RequestBody, Scores};
use rand::{Rng, RngExt};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A frame that is no request, with the zero that ends it.
pub(super) fn malformed(random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    loop {
        let mut good = [0; MAX_FRAME];
        let request =
            Request { id: random.next_u32(), body: RequestBody::predict(Scores::Score(random.random())) };
        let good = wire::encode(&request, &mut good).expect("it fits");
        let mut frame = match random.random_range(0..5) {
            // One bit wrong, or two.
            0 => flipped(good, random),
            // Cut off.
            1 => good[..random.random_range(1..good.len() - 1)].to_vec(),
            // Noise, now and then longer than any frame.
            2 => noise(random.random_range(0..64), random),
            3 => noise(random.random_range(MAX_FRAME..2 * MAX_FRAME), random),
            // A request twice without the zero between.
            _ => [&good[..good.len() - 1], good].concat(),
        };
        frame.push(0);
        let mut reader = FrameReader::new();
        if frame.iter().filter_map(|&byte| reader.push::<Request>(byte)).all(|request| request.is_err()) {
            return frame;
        }
    }
}

fn flipped(good: &[u8], random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut frame = good.to_vec();
    for _ in 0..random.random_range(1..=2) {
        let at = random.random_range(0..frame.len());
        frame[at] ^= 1 << random.random_range(0..8);
    }
    frame
}

fn noise(len: usize, random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut bytes = vec![0; len];
    random.fill_bytes(&mut bytes);
    bytes
}
