//! What a slot holds.

use calib_core::slot::{SlotContent, SlotFault};
use serde_json::{Value, json};

/// What a slot holds, as JSON.
pub(crate) fn slot_json(slot: &Result<SlotContent, SlotFault>) -> Value {
    match slot {
        Ok(content) => json!({
            "state": "valid",
            "identity": content.identity.to_string(),
            "len_bytes": content.len_bytes,
            "counter": content.counter,
            "sequence": content.sequence,
        }),
        Err(SlotFault::Blank) => json!({"state": "blank"}),
        Err(fault) => json!({"state": "invalid", "reason": fault.to_string()}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_slot_is_not_an_invalid_one() {
        assert_eq!(slot_json(&Err(SlotFault::Blank)), json!({"state": "blank"}));
        let damaged = slot_json(&Err(SlotFault::Uncommitted));
        assert_eq!(damaged["state"], "invalid");
        assert_eq!(damaged["reason"], SlotFault::Uncommitted.to_string());
    }
}
