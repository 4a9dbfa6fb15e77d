//! Whether a process gets its share of the processors.

use std::fs;
use std::time::Duration;

/// How long the threads of a process have waited for a processor so far, altogether; `None` where the operating system does
/// not tell, or there is no such process.
pub(crate) fn waited(process: u32) -> Option<Duration> {
    let mut waited = Duration::ZERO;
    for thread in fs::read_dir(format!("/proc/{process}/task")).ok()? {
        // Nanoseconds on a processor, nanoseconds of waiting for one, and how often.
        let Ok(times) = fs::read_to_string(thread.ok()?.path().join("schedstat")) else { continue };
        waited += Duration::from_nanos(times.split_whitespace().nth(1)?.parse().ok()?);
    }
    Some(waited)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_of_threads_waits_and_a_process_that_is_gone_does_not() {
        let before = waited(std::process::id()).unwrap();
        let crowd = 4 * std::thread::available_parallelism().unwrap().get();
        let start = std::time::Instant::now();
        let threads: Vec<_> = (0..crowd)
            .map(|_| std::thread::spawn(move || while start.elapsed() < Duration::from_millis(400) {}))
            .collect();
        std::thread::sleep(Duration::from_millis(200));
        let during = waited(std::process::id()).unwrap();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(during > before + Duration::from_millis(100), "{before:?} {during:?}");

        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert_eq!(waited(child.id()), None);
    }
}
