// calib 0.1.0, artifact 0996ff199cbf69f8:
// umd (binary), 7 bins, 2000 calibration points.
// Scores beyond those of the calibration points are not marked here.
// alpha 0.1, epsilon 0.09652977: what they are is said below.
//
// With probability 90 % over the draw of the 2000 calibration points, every bin's probability is within 0.0965
// of the truth for its scores (Gupta and Ramdas 2021, Theorem 3, at alpha 0.0704 for this one of 20 candidates).
// This holds if:
// - The calibration points are independent: one per patient, or one per other independent unit. Several
// recordings, frames or visits of one patient are not.
// - The classifier and its threshold were fixed without looking at these labels, and method and number of bins
// were chosen by them among no more than 20 candidates, each fixed before.
// - New data come from the same distribution as these, at the prevalence of the calibration sample: other
// patients, sensors or classifiers, and a sample with as many cases as controls, are another distribution.
// - Scores have a continuous distribution: rarely do two have the same. 7.2 % of the calibration points share
// one, 0.55 % the most frequent.
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
#[rustfmt::skip]
static CALIB: [Option<calib_core::table::FixedTable<8>>; 1] = [
    // below: 0.0877193; 0.002893: 0.22105263; 0.033865: 0.29473683; 0.220029: 0.4350877; 0.68941: 0.6631579;
    // 0.958802: 0.82807016; 0.997291: 0.9366197
    Some(calib_core::fixed_table!(const { &[f32::from_bits(0x3b3d987c), f32::from_bits(0x3d0ab607), f32::from_bits(0x3e614f48), f32::from_bits(0x3f307d2c), f32::from_bits(0x3f75740c), f32::from_bits(0x3f7f4e77)] }, const { &[f32::from_bits(0x3db3a62d), f32::from_bits(0x3e625b9f), f32::from_bits(0x3e96e7bf), f32::from_bits(0x3edec3d1), f32::from_bits(0x3f29c4b7), f32::from_bits(0x3f53fc68), f32::from_bits(0x3f6fc64f)] })),
];
