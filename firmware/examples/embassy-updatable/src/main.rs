//! A whole device in Embassy, on an RP2350: a classifier whose calibrator is replaced over the serial line by `calib push`, counters that
//! survive a restart, an alarm, and another task beside them.
#![no_std]
#![no_main]

use core::cell::RefCell;

use calib_core::journal::JournalLayout;
use calib_core::wire::Refusal;
use calib_core::{Admission, Anybody, ArtifactBuffer, ClassifierId, Erased, Score, SlotLayout};
use calib_firmware::{
    Alarm, AlarmRule, Classifier, Entropy, Features, PersistentMonitors, Task, Meter, Output as Said, Scratch,
    Updater, serve_async,
};
use embassy_embedded_hal::flash::partition::BlockingPartition;
use embassy_executor::Spawner;
use embassy_rp::bind_interrupts;
use embassy_rp::clocks::RoscRng;
use embassy_rp::flash::{Blocking, Flash};
use embassy_rp::gpio::{Level, Output};
use embassy_rp::peripherals::{FLASH, UART0};
use embassy_rp::uart::{BufferedInterruptHandler, BufferedUart, Config};
use embassy_sync::blocking_mutex::Mutex;
use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_time::{Instant, Timer};
use panic_halt as _;
use static_cell::{ConstStaticCell, StaticCell};

bind_interrupts!(struct Interrupts {
    UART0_IRQ => BufferedInterruptHandler<UART0>;
});

const FLASH_LEN: usize = 4 << 20;
const SECTOR: u32 = 4096;
/// The end of the flash, which `memory.x` leaves to the slots and the counters.
const SLOTS_AT: u32 = FLASH_LEN as u32 - 2 * SECTOR;
const COUNTERS_AT: u32 = SLOTS_AT - 2 * SECTOR;
/// Offsets in the partition. A slot's artifact may be 288 bytes shorter.
const SLOTS: SlotLayout = SlotLayout { offsets: [0, SECTOR], len_bytes: SECTOR, erased: Erased::Ones };
const COUNTERS: JournalLayout = JournalLayout { offset: 0, len_bytes: 2 * SECTOR, erased: Erased::Ones };
/// Words of 4 bytes in the buffers for artifacts: as many as a slot holds.
const WORDS: usize = SECTOR as usize / 4;
/// After how many predictions the counters are saved.
const SAVE_EVERY: u32 = 64;

type Chip = Flash<'static, FLASH, Blocking, FLASH_LEN>;

/// A stand-in for your classifier: the more degrees above 36, the likelier.
struct Fever;

impl Classifier for Fever {
    fn name(&self) -> &str {
        "fever"
    }

    fn id(&self) -> ClassifierId {
        ClassifierId(*b"fever001")
    }

    fn feature_count(&self) -> u16 {
        1
    }

    fn task(&self) -> Task {
        Task::Binary
    }

    fn classify<'s>(&self, features: Features<'_>, _: &'s mut Scratch) -> Result<Said<'s>, Refusal> {
        let degrees_celsius = features.iter().sum::<f32>();
        let score = Score::new(((degrees_celsius - 36.0) / 4.0).clamp(0.0, 1.0));
        score.map(Said::Binary).map_err(Refusal::Score)
    }
}

/// Measures in microseconds.
struct Clock;

impl Meter for Clock {
    fn measure_ticks(&mut self, work: impl FnOnce()) -> Option<u32> {
        let start = Instant::now();
        work();
        u32::try_from(start.elapsed().as_micros()).ok()
    }

    fn stack_high_water_bytes(&mut self) -> u32 {
        // Nobody counts.
        0
    }
}

/// The ring oscillator's bits, for calibrators that break ties at random.
struct Ring(RoscRng);

impl Entropy for Ring {
    fn word(&mut self) -> Option<u32> {
        Some(self.0.next_u32())
    }
}

// ANCHOR: task
/// Serves the line for good. It waits where the line does; a step of an update holds the executor for one erased sector.
#[embassy_executor::task]
async fn serve(mut line: BufferedUart, alarm: Output<'static>, flash: Chip) {
    static CHIP: StaticCell<Mutex<NoopRawMutex, RefCell<Chip>>> = StaticCell::new();
    static STAGED: ConstStaticCell<ArtifactBuffer<WORDS>> = ConstStaticCell::new(ArtifactBuffer::new());
    static LOADED: ConstStaticCell<ArtifactBuffer<WORDS>> = ConstStaticCell::new(ArtifactBuffer::new());
    let (staged, loaded) = (STAGED.take(), LOADED.take());
    let chip = &*CHIP.init(Mutex::new(RefCell::new(flash)));
    let slots = BlockingPartition::new(chip, SLOTS_AT, 2 * SECTOR);
    let counters = BlockingPartition::new(chip, COUNTERS_AT, 2 * SECTOR);
    let admission = Admission::new(Anybody, Fever.id());
    let mut updater = Updater::open(slots, SLOTS, admission, Fever.task(), staged)
        .unwrap_or_else(|_| panic!("the slots do not fit the flash"));
    let monitors = PersistentMonitors::<_, 15, 1>::open(counters, COUNTERS, SAVE_EVERY)
        .unwrap_or_else(|_| panic!("the counters do not fit the flash"));
    let Ok(alarm) = Alarm::new(alarm, AlarmRule::AtLeast(0.5));
    let parts = (Fever, alarm, Clock, Ring(RoscRng), monitors);
    // A line that fails ends it, and the alarm stays as it is: reset the chip.
    let _ = serve_async(&mut line, parts, &mut updater, loaded, |_| {}).await;
    cortex_m::peripheral::SCB::sys_reset();
}
// ANCHOR_END: task

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    // A request of the host's has at most 512 bytes, and none follows before it is answered.
    static SENT: ConstStaticCell<[u8; 64]> = ConstStaticCell::new([0; 64]);
    static RECEIVED: ConstStaticCell<[u8; 512]> = ConstStaticCell::new([0; 512]);
    let p = embassy_rp::init(Default::default());
    let line = BufferedUart::new(
        p.UART0,
        p.PIN_0,
        p.PIN_1,
        Interrupts,
        SENT.take(),
        RECEIVED.take(),
        Config::default(),
    );
    let alarm = Output::new(p.PIN_15, Level::High);
    spawner.spawn(serve(line, alarm, Flash::new_blocking(p.FLASH)).expect("it runs once"));
    // What else the firmware does: here a light that shows that it lives.
    let mut light = Output::new(p.PIN_25, Level::Low);
    loop {
        light.toggle();
        Timer::after_millis(500).await;
    }
}
