// calib 0.1.0, artifact b698114f5f1ec8d4:
// umd (binary), 13 bins, 2000 calibration points.
// Scores beyond those of the calibration points are not marked here.
// alpha 0.1, epsilon 0.110825025: what they are is said below.
//
// With at least 90% probability over the draw of the 2000 calibration points, every bin's probability is within
// 0.1108 of the event rate of all rows with scores in the bin (Clopper and Pearson 1934, exact binomial
// intervals). The event rate of every bin lies in the bin's interval.
// This holds if:
// - The calibration points are independent: one per patient, or one per other independent unit. Several
// recordings, frames or visits of one patient are not.
// - Classifier, its threshold, method and number of bins were fixed without looking at these labels. Where the
// best of M was chosen by them, the epsilon that holds is the one for alpha / M.
// - New data come from the same distribution as these, at the prevalence of the calibration sample: other
// patients, sensors or classifiers, and a sample with as many cases as controls, are another distribution.
// - No equal scores lie on both sides of an edge of a bin. This was checked in the calibration set.
// It is to be read so:
// - Nothing was seen of scores below 0 or above 1: calib-core marks results for them; what is said of their bin
// is said of others.
// - The truth is the frequency of the label as it was recorded, among patients like the sample's: an imperfect
// reference standard, or labels only for some, shift it by an unknown amount.
// - It is an average over all patients with scores in the bin. Nothing is promised within a bin, nor for a
// subgroup: a sex, a site or a scanner can be off by any amount.
// - In up to 1 of 10 calibrations it does not hold: that is decided once for all by the draw of the calibration
// points, not anew for every patient. Every recalibration takes that chance anew, and the chances add up.
//
// In Cargo.toml: calib-core = { path = "PATH/calib-core" }, where PATH is a checkout of calib 0.1.0. How it is called:
//
//     include!("this file");
//
//     fn example(score: calib_core::Score) -> Option<f32> {
//         let table = CALIB[0].as_ref()?;
//         Some(table.lookup(score).1)
//     }
//     fn interval(score: calib_core::Score) -> Option<calib_core::ProbInterval> {
//         let table = CALIB[0].as_ref()?;
//         *CALIB_INTERVALS[0]?.get(usize::from(table.lookup(score).0))?
//     }
#[rustfmt::skip]
static CALIB: [Option<calib_core::table::FixedTable<16>>; 1] = [
    // below: 0.06535948; 0.0006: 0.11764706; 0.003405: 0.18954249; 0.014557: 0.27450982; 0.043552: 0.28104576;
    // 0.129075: 0.39869282; 0.317765: 0.43137255; 0.586935: 0.4640523; 0.826157: 0.7254902; 0.939614: 0.7777778;
    // 0.983485: 0.83006537; 0.996464: 0.9346405; 0.999443: 0.94736844
    Some(calib_core::fixed_table!(const { &[f32::from_bits(0x3a1d4952), f32::from_bits(0x3b5f266c), f32::from_bits(0x3c6e807c), f32::from_bits(0x3d326395), f32::from_bits(0x3e042c3d), f32::from_bits(0x3ea2b218), f32::from_bits(0x3f16415f), f32::from_bits(0x3f537f06), f32::from_bits(0x3f708a8b), f32::from_bits(0x3f7bc5ac), f32::from_bits(0x3f7f1844), f32::from_bits(0x3f7fdb7f)] }, const { &[f32::from_bits(0x3d85db31), f32::from_bits(0x3df0f0f1), f32::from_bits(0x3e42176d), f32::from_bits(0x3e8c8c8d), f32::from_bits(0x3e8fe53b), f32::from_bits(0x3ecc2177), f32::from_bits(0x3edcdcdd), f32::from_bits(0x3eed9843), f32::from_bits(0x3f39b9ba), f32::from_bits(0x3f471c72), f32::from_bits(0x3f547f2a), f32::from_bits(0x3f6f449a), f32::from_bits(0x3f7286bd)] })),
];
#[allow(dead_code)]
#[rustfmt::skip]
static CALIB_INTERVALS: [Option<&[Option<calib_core::ProbInterval>]>; 1] = [
    Some(&[Some(calib_core::ProbInterval { lo: f32::from_bits(0x3cc2fa24), hi: f32::from_bits(0x3e0caf68) }), Some(calib_core::ProbInterval { lo: f32::from_bits(0x3d6fd43b), hi: f32::from_bits(0x3e500db9) }), Some(calib_core::ProbInterval { lo: f32::from_bits(0x3de81776), hi: f32::from_bits(0x3e92f5fc) }), Some(calib_core::ProbInterval { lo: f32::from_bits(0x3e3c639b), hi: f32::from_bits(0x3ec2c5f1) }), Some(calib_core::ProbInterval { lo: f32::from_bits(0x3e4227ed), hi: f32::from_bits(0x3ec65a33) }), Some(calib_core::ProbInterval { lo: f32::from_bits(0x3e96f2dd), hi: f32::from_bits(0x3f026b0a) }), Some(calib_core::ProbInterval { lo: f32::from_bits(0x3ea68198), hi: f32::from_bits(0x3f0acd76) }), Some(calib_core::ProbInterval { lo: f32::from_bits(0x3eb64cf8), hi: f32::from_bits(0x3f1311b5) }), Some(calib_core::ProbInterval { lo: f32::from_bits(0x3f1e9d07), hi: f32::from_bits(0x3f50e71a) }), Some(calib_core::ProbInterval { lo: f32::from_bits(0x3f2d2c10), hi: f32::from_bits(0x3f5c306e) }), Some(calib_core::ProbInterval { lo: f32::from_bits(0x3f3c3ca0), hi: f32::from_bits(0x3f66f4b5) }), Some(calib_core::ProbInterval { lo: f32::from_bits(0x3f5cd426), hi: f32::from_bits(0x3f79e82f) }), Some(calib_core::ProbInterval { lo: f32::from_bits(0x3f61207b), hi: f32::from_bits(0x3f7bcbf0) })]),
];
