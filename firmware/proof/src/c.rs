//! The library for C, with pointers of which nothing is known.

use core::ptr::{null, null_mut};

use calib_c::{
    calib_apply_all_logits, calib_apply_all_probs, calib_apply_code, calib_apply_i8, calib_apply_keys,
    calib_apply_logits, calib_apply_margin, calib_apply_probs, calib_apply_score, calib_apply_top_k_logits,
    calib_apply_top_k_probs, calib_apply_u8, calib_band_code, calib_band_margin, calib_band_score,
    calib_calibrator_t, calib_check, calib_device_classify, calib_device_config_t, calib_device_open,
    calib_device_t, calib_device_take, calib_error_text, calib_flash_t, calib_info, calib_journal_t,
    calib_layout_t, calib_monitors_begin, calib_monitors_open, calib_monitors_open_many,
    calib_monitors_open_many_persistent, calib_monitors_open_persistent, calib_monitors_read,
    calib_monitors_reset, calib_monitors_restore, calib_monitors_save, calib_monitors_t, calib_monitors_tell,
    calib_open, calib_options_t, calib_pieces_add, calib_pieces_open, calib_pieces_t, calib_result_t,
    calib_store_install, calib_store_install_pieces, calib_store_load, calib_store_open, calib_store_survey,
    calib_store_t, calib_table_band_code, calib_table_band_margin, calib_table_band_score, calib_table_code,
    calib_table_info, calib_table_margin, calib_table_open, calib_table_score, calib_table_t, calib_version,
};

use crate::any::{any, from, keep};

/// A pointer of which the compiler knows nothing.
fn pointer<T>() -> *const T {
    from(null())
}

fn place<T>() -> *mut T {
    from(null_mut())
}

fn apply() {
    let (calibrator, options) = (pointer::<calib_calibrator_t>(), pointer::<calib_options_t>());
    let result = place::<calib_result_t>();
    // SAFETY: this is linked, and never runs; what the functions demand is not theirs to prove.
    unsafe {
        keep(calib_version());
        keep(calib_check(any(), any(), any(), any(), any(), any(), any()));
        keep(calib_open(place(), pointer(), any(), pointer()));
        keep(calib_info(calibrator, place()));
        keep(calib_apply_score(calibrator, any(), options, result));
        keep(calib_apply_margin(calibrator, any(), options, result));
        keep(calib_apply_code(calibrator, any(), options, result));
        keep(calib_band_score(calibrator, any(), place()));
        keep(calib_band_margin(calibrator, any(), place()));
        keep(calib_band_code(calibrator, any(), place()));
        keep(calib_apply_logits(calibrator, pointer(), any(), options, result));
        keep(calib_apply_probs(calibrator, pointer(), any(), options, result));
        keep(calib_apply_keys(calibrator, pointer(), any(), options, result));
        keep(calib_apply_i8(calibrator, pointer(), any(), place(), options, result));
        keep(calib_apply_u8(calibrator, pointer(), any(), place(), options, result));
        keep(calib_apply_all_logits(calibrator, pointer(), any(), options, place(), any(), result));
        keep(calib_apply_all_probs(calibrator, pointer(), any(), options, place(), any(), result));
        keep(calib_apply_top_k_logits(calibrator, pointer(), any(), options, result, any()));
        keep(calib_apply_top_k_probs(calibrator, pointer(), any(), options, result, any()));
    }
}

fn table() {
    let (table, result) = (pointer::<calib_table_t>(), place::<calib_result_t>());
    // SAFETY: as above.
    unsafe {
        keep(calib_table_open(place(), pointer(), any(), pointer()));
        keep(calib_table_info(table, place()));
        keep(calib_table_score(table, any(), result));
        keep(calib_table_margin(table, any(), result));
        keep(calib_table_code(table, any(), result));
        keep(calib_table_band_score(table, any(), place()));
        keep(calib_table_band_margin(table, any(), place()));
        keep(calib_table_band_code(table, any(), place()));
    }
}

fn slots() {
    let store = place::<calib_store_t>();
    let (flash, layout) = (pointer::<calib_flash_t>(), pointer::<calib_layout_t>());
    // SAFETY: as above.
    unsafe {
        keep(calib_store_open(store, flash, layout, pointer(), pointer(), place(), any()));
        keep(calib_store_load(store, place()));
        keep(calib_store_install(store, pointer(), any(), place()));
        keep(calib_store_survey(store, place()));
        let pieces = place::<calib_pieces_t>();
        keep(calib_pieces_open(pieces, place(), any()));
        keep(calib_pieces_add(pieces, any(), pointer(), any(), place()));
        keep(calib_store_install_pieces(store, pieces, place()));
    }
}

fn device() {
    let device = place::<calib_device_t>();
    // SAFETY: as above.
    unsafe {
        keep(calib_device_open(device, pointer::<calib_device_config_t>(), place(), place(), any()));
        keep(calib_device_take(device, pointer(), any(), place(), place(), any(), place()));
        keep(calib_device_classify(device, pointer(), any(), pointer(), place()));
    }
}

fn monitors() {
    let (monitors, calibrator) = (place::<calib_monitors_t>(), pointer::<calib_calibrator_t>());
    let journal = pointer::<calib_journal_t>();
    // SAFETY: as above.
    unsafe {
        keep(calib_monitors_open(monitors, place(), any()));
        keep(calib_monitors_open_many(monitors, place(), any()));
        keep(calib_monitors_open_persistent(monitors, place(), any(), journal));
        keep(calib_monitors_open_many_persistent(monitors, place(), any(), journal));
        keep(calib_monitors_begin(monitors, calibrator));
        keep(calib_monitors_tell(monitors, calibrator, pointer(), pointer(), any()));
        keep(calib_monitors_read(monitors, calibrator, any(), place()));
        keep(calib_monitors_reset(monitors, calibrator));
        keep(calib_monitors_save(monitors, place(), any(), place()));
        keep(calib_monitors_restore(monitors, pointer(), any()));
    }
}

/// Calls every function.
pub(crate) fn prove() {
    keep(calib_error_text(any()));
    apply();
    table();
    slots();
    monitors();
    device();
}
