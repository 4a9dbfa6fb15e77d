// calib 0.1.0, artifact ca9f09e0f118da82:
// blend (binary), 144 steps, 2000 calibration points.
// Scores outside the range of the calibration points are not marked here.
//
// With at least 90% probability over the draw of the calibration set, the event rate of every score range lies
// in its interval. Nothing is guaranteed of the probability itself. With at least 90% probability over the
// labels of the calibration set, the probability of an event lies in the band for every score simultaneously.
// This holds if a higher score never means a lower probability.
// Requires:
// - The calibration points are independent: one per patient, or one per other independent unit. Several
// recordings, frames or visits of one patient are not.
// - The classifier was trained and selected without these labels. The method may be chosen by them: the ranges
// depend on the scores only.
// - New data come from the same distribution as the calibration set, at the same prevalence. Other patients,
// sensors or classifiers are another distribution, and so is a sample with as many cases as controls.
// - Scores have a continuous distribution: equal scores are rare. 7.2% of the calibration points share a score,
// 0.55% the most frequent one.
// - For the band: a higher score never means a lower probability of an event. Labels can contradict this, but
// not confirm it. If the probability may fall by 0.05 from a score to a higher one, the band is 0.05 wider on
// each side.
// Limits:
// - Event rates are those of the labels as recorded, among patients like those of the calibration set. An
// imperfect reference standard, or labels for only some patients, shift them by an unknown amount.
// - The guarantee is about the average over all patients with scores in a bin or score range. It does not cover
// a part of the bin or a subgroup: the error for one sex, site or scanner can be of any size.
// - The guarantee fails with probability at most 10%. The draw of the calibration set decides this once, not
// separately for every patient. Each recalibration adds the same risk.
// - The band holds with its own probability. The band and the other guarantee hold simultaneously with at least
// 80% probability.
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
//         let ranges = CALIB_INTERVALS[0].as_ref()?;
//         ranges.interval(ranges.bin(score.to_bits()))
//     }
#[rustfmt::skip]
static CALIB: [Option<calib_core::table::FixedTable<256>>; 1] = [
    // below: 0.011058637; 6.8836846e-7: 0.017891837; 2.8918366e-6: 0.024684941; 6.789969e-6: 0.03144306;
    // 1.5479593e-5: 0.038167603; 3.0130823e-5: 0.044852857; 5.3e-5: 0.051979087; 8.66378e-5: 0.058753096;
    // 0.00013069529: 0.065537624; 0.00019404684: 0.07229029; 0.0002560502: 0.07905979; 0.00035893964: 0.08582282;
    // 0.000491231: 0.09256584; 0.0006376813: 0.09927514; 0.00083685433: 0.10604709; 0.0010847263: 0.1128808;
    // 0.0013861774: 0.11840724; 0.0016015: 0.12702139; 0.0019944923: 0.13373698; 0.0024655776: 0.1405465;
    // 0.00302784: 0.14732876; 0.0035020425: 0.1540752; 0.0042300024: 0.16085544; 0.0050710416: 0.16763665;
    // 0.0060414714: 0.17438774; 0.0071412916: 0.18114135; 0.008410943: 0.18795939; 0.009866587: 0.19479959;
    // 0.011516318: 0.20154457; 0.013327787: 0.20825346; 0.015058915: 0.21505512; 0.017367449: 0.22110224; 0.0193295:
    // 0.23131007; 0.022153167: 0.23811871; 0.025259206: 0.24489214; 0.028718203: 0.251665; 0.032539666: 0.25843862;
    // 0.03677518: 0.2652152; 0.041434236: 0.272032; 0.04656732: 0.2788254; 0.052145682: 0.2855914; 0.058327116:
    // 0.29236847; 0.06500942: 0.2991647; 0.07239698: 0.30599698; 0.080387615: 0.31273228; 0.08883054: 0.31947082;
    // 0.09817809: 0.3262816; 0.10411267: 0.33307654; 0.114050984: 0.3398893; 0.12531571: 0.34669292; 0.13461025:
    // 0.35343838; 0.14706461: 0.36018977; 0.16044158: 0.36700132; 0.17474104: 0.37345427; 0.18811801: 0.38224843;
    // 0.20368643: 0.38897416; 0.22005329: 0.39571154; 0.2372185: 0.402463; 0.24933454: 0.40924022; 0.26786238:
    // 0.41603303; 0.28705567: 0.42277396; 0.30659795: 0.4295044; 0.32569978: 0.43625528; 0.34641856: 0.44305643; and
    // 80 more
    Some(calib_core::fixed_table!(const { &[f32::from_bits(0x3538c852), f32::from_bits(0x36421160), f32::from_bits(0x36e3d564), f32::from_bits(0x3781da2c), f32::from_bits(0x37fcc173), f32::from_bits(0x385e4c51), f32::from_bits(0x38b5b151), f32::from_bits(0x39090b40), f32::from_bits(0x394b790d), f32::from_bits(0x39863e7a), f32::from_bits(0x39bc3010), f32::from_bits(0x3a00c5f4), f32::from_bits(0x3a272a11), f32::from_bits(0x3a5b6058), f32::from_bits(0x3a8e2d60), f32::from_bits(0x3ab5b065), f32::from_bits(0x3ad1e96c), f32::from_bits(0x3b02b607), f32::from_bits(0x3b219587), f32::from_bits(0x3b466eba), f32::from_bits(0x3b658286), f32::from_bits(0x3b8a9bd5), f32::from_bits(0x3ba62afb), f32::from_bits(0x3bc5f789), f32::from_bits(0x3bea017f), f32::from_bits(0x3c09ce0d), f32::from_bits(0x3c21a777), f32::from_bits(0x3c3caef0), f32::from_bits(0x3c5a5cca), f32::from_bits(0x3c76b9ab), f32::from_bits(0x3c8e462e), f32::from_bits(0x3c9e58e6), f32::from_bits(0x3cb57a8f), f32::from_bits(0x3cceec65), f32::from_bits(0x3ceb4270), f32::from_bits(0x3d054850), f32::from_bits(0x3d16a192), f32::from_bits(0x3d29b6f2), f32::from_bits(0x3d3ebd60), f32::from_bits(0x3d5596b6), f32::from_bits(0x3d6ee86a), f32::from_bits(0x3d8523a9), f32::from_bits(0x3d9444de), f32::from_bits(0x3da4a243), f32::from_bits(0x3db5ecc9), f32::from_bits(0x3dc91198), f32::from_bits(0x3dd53906), f32::from_bits(0x3de99390), f32::from_bits(0x3e0052c3), f32::from_bits(0x3e09d745), f32::from_bits(0x3e16981b), f32::from_bits(0x3e244acc), f32::from_bits(0x3e32ef51), f32::from_bits(0x3e40a202), f32::from_bits(0x3e50932d), f32::from_bits(0x3e6155a6), f32::from_bits(0x3e72e968), f32::from_bits(0x3e7f518e), f32::from_bits(0x3e892542), f32::from_bits(0x3e92f8f6), f32::from_bits(0x3e9cfa68), f32::from_bits(0x3ea6c21f), f32::from_bits(0x3eb15dc6), f32::from_bits(0x3ebc6cfc), f32::from_bits(0x3ec77c31), f32::from_bits(0x3ed2c52f), f32::from_bits(0x3ede47f7), f32::from_bits(0x3ee9caba), f32::from_bits(0x3ef54d80), f32::from_bits(0x3f005cb7), f32::from_bits(0x3f061e19), f32::from_bits(0x3f0bc297), f32::from_bits(0x3f116716), f32::from_bits(0x3f16aa8a), f32::from_bits(0x3f1c1c17), f32::from_bits(0x3f217359), f32::from_bits(0x3f26b053), f32::from_bits(0x3f2bb8b3), f32::from_bits(0x3f308c82), f32::from_bits(0x3f3542b8), f32::from_bits(0x3f39d856), f32::from_bits(0x3f3e4d5c), f32::from_bits(0x3f42812d), f32::from_bits(0x3f469465), f32::from_bits(0x3f4a6669), f32::from_bits(0x3f4e17d6), f32::from_bits(0x3f512642), f32::from_bits(0x3f537f06), f32::from_bits(0x3f56063a), f32::from_bits(0x3f574e6a), f32::from_bits(0x3f594b94), f32::from_bits(0x3f5c3712), f32::from_bits(0x3f5ef5bb), f32::from_bits(0x3f618789), f32::from_bits(0x3f63ec7e), f32::from_bits(0x3f66338c), f32::from_bits(0x3f68492d), f32::from_bits(0x3f6a4506), f32::from_bits(0x3f6c21cc), f32::from_bits(0x3f6dd117), f32::from_bits(0x3f6f6c15), f32::from_bits(0x3f70c7fe), f32::from_bits(0x3f722959), f32::from_bits(0x3f7373aa), f32::from_bits(0x3f74a6ef), f32::from_bits(0x3f75c329), f32::from_bits(0x3f76c859), f32::from_bits(0x3f77b67b), f32::from_bits(0x3f785c90), f32::from_bits(0x3f792a6b), f32::from_bits(0x3f79e685), f32::from_bits(0x3f7a90e1), f32::from_bits(0x3f7b2d0b), f32::from_bits(0x3f7bbb04), f32::from_bits(0x3f7c3040), f32::from_bits(0x3f7ca6f4), f32::from_bits(0x3f7d05d3), f32::from_bits(0x3f7d668e), f32::from_bits(0x3f7d988f), f32::from_bits(0x3f7de94c), f32::from_bits(0x3f7e3313), f32::from_bits(0x3f7e747f), f32::from_bits(0x3f7eaef6), f32::from_bits(0x3f7ee116), f32::from_bits(0x3f7f0ec5), f32::from_bits(0x3f7f2f53), f32::from_bits(0x3f7f53b4), f32::from_bits(0x3f7f72c2), f32::from_bits(0x3f7f89d7), f32::from_bits(0x3f7fa16e), f32::from_bits(0x3f7fb536), f32::from_bits(0x3f7fc61d), f32::from_bits(0x3f7fd3d5), f32::from_bits(0x3f7fdee9), f32::from_bits(0x3f7fe809), f32::from_bits(0x3f7fef4e), f32::from_bits(0x3f7ff4de), f32::from_bits(0x3f7ff900), f32::from_bits(0x3f7ffbed), f32::from_bits(0x3f7ffde2), f32::from_bits(0x3f7fff19), f32::from_bits(0x3f7fffb9), f32::from_bits(0x3f7ffff7)] }, const { &[f32::from_bits(0x3c352f49), f32::from_bits(0x3c9291e7), f32::from_bits(0x3cca3813), f32::from_bits(0x3d00ca70), f32::from_bits(0x3d1c55a2), f32::from_bits(0x3d37b7a1), f32::from_bits(0x3d54e806), f32::from_bits(0x3d70a716), f32::from_bits(0x3d863897), f32::from_bits(0x3d940cee), f32::from_bits(0x3da1ea19), f32::from_bits(0x3dafc3e0), f32::from_bits(0x3dbd9329), f32::from_bits(0x3dcb50c4), f32::from_bits(0x3dd92f37), f32::from_bits(0x3de72e0d), f32::from_bits(0x3df27f7f), f32::from_bits(0x3e0211e5), f32::from_bits(0x3e08f259), f32::from_bits(0x3e0feb6c), f32::from_bits(0x3e16dd5a), f32::from_bits(0x3e1dc5e4), f32::from_bits(0x3e24b74a), f32::from_bits(0x3e2ba8f1), f32::from_bits(0x3e3292b3), f32::from_bits(0x3e397d1e), f32::from_bits(0x3e40786d), f32::from_bits(0x3e47798b), f32::from_bits(0x3e4e61b3), f32::from_bits(0x3e554065), f32::from_bits(0x3e5c3769), f32::from_bits(0x3e6268a0), f32::from_bits(0x3e6cdc8c), f32::from_bits(0x3e73d564), f32::from_bits(0x3e7ac501), f32::from_bits(0x3e80da3c), f32::from_bits(0x3e845211), f32::from_bits(0x3e87ca49), f32::from_bits(0x3e8b47c7), f32::from_bits(0x3e8ec234), f32::from_bits(0x3e923909), f32::from_bits(0x3e95b152), f32::from_bits(0x3e992c1e), f32::from_bits(0x3e9caba3), f32::from_bits(0x3ea01e72), f32::from_bits(0x3ea391ae), f32::from_bits(0x3ea70e62), f32::from_bits(0x3eaa8902), f32::from_bits(0x3eae05f8), f32::from_bits(0x3eb181bc), f32::from_bits(0x3eb4f5e0), f32::from_bits(0x3eb86acb), f32::from_bits(0x3ebbe799), f32::from_bits(0x3ebf3566), f32::from_bits(0x3ec3b611), f32::from_bits(0x3ec7279f), f32::from_bits(0x3eca9ab4), f32::from_bits(0x3ece0fa1), f32::from_bits(0x3ed187ef), f32::from_bits(0x3ed50248), f32::from_bits(0x3ed875d4), f32::from_bits(0x3edbe800), f32::from_bits(0x3edf5cda), f32::from_bits(0x3ee2d84b), f32::from_bits(0x3ee6549c), f32::from_bits(0x3ee9cb9d), f32::from_bits(0x3eed4987), f32::from_bits(0x3ef0c8a9), f32::from_bits(0x3ef44387), f32::from_bits(0x3ef7ba01), f32::from_bits(0x3efb32c8), f32::from_bits(0x3efeabaf), f32::from_bits(0x3f011230), f32::from_bits(0x3f02d26a), f32::from_bits(0x3f0491c6), f32::from_bits(0x3f064f6d), f32::from_bits(0x3f080eb5), f32::from_bits(0x3f09cc58), f32::from_bits(0x3f0b84a3), f32::from_bits(0x3f0db8a1), f32::from_bits(0x3f0f7400), f32::from_bits(0x3f1133a1), f32::from_bits(0x3f12f1b8), f32::from_bits(0x3f14aec1), f32::from_bits(0x3f166a83), f32::from_bits(0x3f182542), f32::from_bits(0x3f19c59a), f32::from_bits(0x3f1be64c), f32::from_bits(0x3f1e039a), f32::from_bits(0x3f20118e), f32::from_bits(0x3f2182f4), f32::from_bits(0x3f2390ce), f32::from_bits(0x3f254f7b), f32::from_bits(0x3f270c8a), f32::from_bits(0x3f28c6b3), f32::from_bits(0x3f2a823a), f32::from_bits(0x3f2c40b0), f32::from_bits(0x3f2dfdfc), f32::from_bits(0x3f2fbbc8), f32::from_bits(0x3f317bca), f32::from_bits(0x3f333a5c), f32::from_bits(0x3f34f7b2), f32::from_bits(0x3f36b319), f32::from_bits(0x3f386da3), f32::from_bits(0x3f3a2bb4), f32::from_bits(0x3f3bebe9), f32::from_bits(0x3f3dac5e), f32::from_bits(0x3f3f6a81), f32::from_bits(0x3f4123d8), f32::from_bits(0x3f42de52), f32::from_bits(0x3f449c8a), f32::from_bits(0x3f465882), f32::from_bits(0x3f4813aa), f32::from_bits(0x3f49cfc1), f32::from_bits(0x3f4b8bf5), f32::from_bits(0x3f4d49cc), f32::from_bits(0x3f4f085b), f32::from_bits(0x3f50c459), f32::from_bits(0x3f527e83), f32::from_bits(0x3f543567), f32::from_bits(0x3f55ed4b), f32::from_bits(0x3f57a842), f32::from_bits(0x3f596327), f32::from_bits(0x3f5b17f8), f32::from_bits(0x3f5d0fb1), f32::from_bits(0x3f5ec9e9), f32::from_bits(0x3f608759), f32::from_bits(0x3f6245d4), f32::from_bits(0x3f63e06d), f32::from_bits(0x3f6610b9), f32::from_bits(0x3f67ccd1), f32::from_bits(0x3f698a6f), f32::from_bits(0x3f6b4750), f32::from_bits(0x3f6d0100), f32::from_bits(0x3f6ebb77), f32::from_bits(0x3f707763), f32::from_bits(0x3f7234d7), f32::from_bits(0x3f73f184), f32::from_bits(0x3f75ad05), f32::from_bits(0x3f7766ec), f32::from_bits(0x3f792488), f32::from_bits(0x3f7ae37a), f32::from_bits(0x3f7ca130), f32::from_bits(0x3f7e03ea)] })),
];
#[allow(dead_code)]
#[rustfmt::skip]
static CALIB_INTERVALS: [Option<calib_core::artifact::ScoreBins<'static>>; 1] = [
    Some(match calib_core::artifact::ScoreBins::new(&[0x3a1d4952, 0x3b5f266c, 0x3c6e807c, 0x3d326395, 0x3e042c3d, 0x3ea2b218, 0x3f16415f, 0x3f537f06, 0x3f708a8b, 0x3f7bc5ac, 0x3f7f1844, 0x3f7fdb7f], &[[0x3cc2fa24, 0x3e0caf68], [0x3d6fd43b, 0x3e500db9], [0x3de81776, 0x3e92f5fc], [0x3e3c639b, 0x3ec2c5f1], [0x3e4227ed, 0x3ec65a33], [0x3e96f2dd, 0x3f026b0a], [0x3ea68198, 0x3f0acd76], [0x3eb64cf8, 0x3f1311b5], [0x3f1e9d07, 0x3f50e71a], [0x3f2d2c10, 0x3f5c306e], [0x3f3c3ca0, 0x3f66f4b5], [0x3f5cd426, 0x3f79e82f], [0x3f61207b, 0x3f7bcbf0]]) { Some(ranges) => ranges, None => panic!() }),
];
