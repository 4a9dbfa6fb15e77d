//! Ends an emulator whose owner was killed, and could not end it.

use std::io;
use std::process::{Child, Command, Stdio};

/// A shell that waits until this process is gone, whatever the reason, and kills another one then.
///
/// Drop it after that other process has ended.
#[derive(Debug)]
pub(crate) struct Watchdog(Child);

impl Watchdog {
    /// Watches over a child process.
    ///
    /// # Errors
    ///
    /// If the shell does not start.
    pub(crate) fn of(child: &Child) -> io::Result<Self> {
        // `read` ends when the pipe does, of which nobody else has the other end.
        let script = format!("read -r nothing; kill -9 {}", child.id());
        let shell = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self(shell))
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // Before its pipe closes: the number of the other process may be somebody else's by now.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    /// Set for the process that is killed.
    const OWNER: &str = "CALIB_TESTS_OWNER";

    /// Starts a process with a watchdog, says its number, and waits.
    fn own() -> ! {
        let mut child = Command::new("sleep").arg("300").spawn().unwrap();
        let _watchdog = Watchdog::of(&child).unwrap();
        eprintln!("owned {}", child.id());
        child.wait().unwrap();
        unreachable!("this process is killed before")
    }

    fn is_there(id: &str) -> bool {
        // A process that nobody waited for yet is a zombie.
        let state = Command::new("ps").args(["-o", "stat=", "-p", id]).output().unwrap();
        let state = String::from_utf8_lossy(&state.stdout).trim().to_owned();
        !state.is_empty() && !state.starts_with('Z')
    }

    #[test]
    fn a_killed_owner_leaves_no_process_behind() {
        if std::env::var_os(OWNER).is_some() {
            own();
        }
        let name = "watchdog::tests::a_killed_owner_leaves_no_process_behind";
        let mut owner = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(OWNER, "yes")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(owner.stderr.take().unwrap()).lines().map(Result::unwrap);
        let line = lines.find(|line| line.starts_with("owned ")).expect("it says what it owns");
        let id = line.trim_start_matches("owned ");
        assert!(is_there(id));
        owner.kill().unwrap();
        owner.wait().unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        while is_there(id) {
            assert!(Instant::now() < deadline, "process {id} outlives its owner");
            thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_watchdog_that_is_dropped_leaves_the_process_alone() {
        let mut child = Command::new("sleep").arg("300").spawn().unwrap();
        drop(Watchdog::of(&child).unwrap());
        thread::sleep(Duration::from_millis(100));
        assert_eq!(child.try_wait().unwrap(), None);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
