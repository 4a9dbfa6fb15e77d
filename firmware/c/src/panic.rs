//! What a static library needs to be linked: nothing calls it, as `firmware/proof` proves.

use core::panic::PanicInfo;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
