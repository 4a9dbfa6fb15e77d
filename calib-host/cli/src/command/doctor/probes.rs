//! Debug probes.

use calib_io::device::probe::{ProbeState, probes};

use super::Finding;

pub(super) fn debug_probes() -> Vec<Finding> {
    of_probes(probes())
}

/// What there is to say about the probes that are plugged in.
fn of_probes(there: Vec<ProbeState>) -> Vec<Finding> {
    if there.is_empty() {
        let advice = "connect a debug probe, or a board with one on it, if there is to be one";
        return vec![Finding { what: "debug probes".into(), found: Err("none".into()), advice }];
    }
    let one = |probe: ProbeState| Finding {
        what: format!("debug probe {} ({})", probe.name, probe.selector),
        found: if probe.accessible { Ok("may be used".into()) } else { Err("no permission".into()) },
        advice: "install the udev rules of https://probe.rs/docs/getting-started/probe-setup, then plug it in again",
    };
    there.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_named_with_what_keeps_them_from_being_used() {
        let none = of_probes(vec![]);
        let [Finding { found: Err(problem), advice, .. }] = &none[..] else { panic!("not one finding") };
        assert!(problem == "none" && advice.contains("connect a debug probe"));
        let probe = |name: &str, accessible| ProbeState {
            name: name.into(),
            selector: "1366:1015:0001".into(),
            accessible,
        };
        let there = of_probes(vec![probe("J-Link", true), probe("CMSIS-DAP", false)]);
        let [usable, locked] = &there[..] else { panic!("not two findings") };
        assert_eq!(usable.what, "debug probe J-Link (1366:1015:0001)");
        assert_eq!(usable.found.as_deref(), Ok("may be used"));
        assert_eq!(locked.found.as_deref().map_err(|problem| &**problem), Err("no permission"));
        assert!(locked.advice.contains("udev rules"));
    }
}
