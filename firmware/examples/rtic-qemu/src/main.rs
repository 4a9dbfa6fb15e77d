//! RTIC: a task that answers for every score, which the emulator runs to its end.
#![no_std]
#![no_main]

use panic_semihosting as _;

/// Where the artifact is, by `memory.x`.
fn slot() -> &'static [u8] {
    unsafe extern "C" {
        static CALIBRATOR: [u8; 4096];
    }
    // SAFETY: the linker script leaves these bytes of flash to the calibrator, and nothing writes them while the program runs.
    unsafe { &CALIBRATOR }
}

#[rtic::app(device = lm3s6965, dispatchers = [GPIOA])]
mod app {
    use calib_example_calibrator::answer;
    use cortex_m_semihosting::{debug, hprintln};

    #[shared]
    struct Shared {}

    #[local]
    struct Local {
        slot: &'static [u8],
    }

    #[init]
    fn init(_: init::Context) -> (Shared, Local) {
        classified::spawn([0.05, 0.5, 0.95]).expect("the task is idle");
        (Shared {}, Local { slot: super::slot() })
    }

    /// Calibrates what a classifier said.
    #[task(local = [slot], priority = 1)]
    async fn classified(context: classified::Context, scores: [f32; 3]) {
        for score in scores {
            let answer = answer(context.local.slot, score.to_le_bytes());
            let (built_in, from_flash) = answer.split_at(4);
            let prob = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
            hprintln!("score {} built in {} from flash {}", score, prob(built_in), prob(from_flash));
        }
        debug::exit(debug::EXIT_SUCCESS);
    }
}
