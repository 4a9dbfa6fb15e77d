// Runs the command as a WASI program (wasi_snapshot_preview1) whose only folder holds the files of one call. A worker of its own, so
// that the page stays responsive, and ending it ends the program.
const OK = 0, BADF = 8, EXIST = 20, INVAL = 28, NOENT = 44, NOSYS = 52;
const FOLDER = 3, FILE = 4;
const CREATE = 1, EXCLUSIVE = 4, TRUNCATE = 8;
/** At most so many milliseconds pass between two signs of progress. */
const TICK = 100;

/** The program, once it is unpacked and compiled. */
let program;

onmessage = async ({ data }) => {
  if (data.packed) {
    program = unpacked(data.packed);
    postMessage({ module: await program });
  } else if (data.module) {
    program = data.module;
  } else {
    postMessage({ id: data.id, result: await run(await program, data) });
  }
};

async function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

class Exit extends Error {
  constructor(code) {
    super(`exit ${code}`);
    this.code = code;
  }
}

async function run(module, { id, words, files }) {
  const folder = new Map(Object.entries(files).map(([name, blob]) => [name, { blob, size: blob.size }]));
  const texts = ["", ""];
  const decoders = [new TextDecoder(), new TextDecoder()];
  const tell = progress((told) => postMessage({ id, ...told }));
  const write = (stream, bytes) => {
    texts[stream] += decoders[stream].decode(bytes, { stream: true });
  };
  const wasi = system(["calib", ...words], folder, write, tell);
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.imports });
  wasi.memory = instance.exports.memory;
  let code = 0;
  try {
    instance.exports._start();
  } catch (error) {
    if (!(error instanceof Exit)) texts[1] += `\nerror: ${error.message}\n`;
    code = error instanceof Exit ? error.code : 101;
  }
  const written = {};
  for (const [name, file] of folder) if (file.bytes && file.isNew) written[name] = new Blob([file.bytes.subarray(0, file.size)]);
  return { code, stdout: texts[0], stderr: texts[1], files: written, memory: wasi.memory.buffer.byteLength };
}

/** Tells of each file that is read how far the reading is. */
function progress(tell) {
  let last = performance.now();
  return (name, done, total) => {
    const now = performance.now();
    if (now - last < TICK && done < total) return;
    last = now;
    tell({ reading: name, done, total });
  };
}

function system(words, folder, write, tell) {
  const wasi = { memory: null };
  const open = new Map();
  const encoder = new TextEncoder();
  const [strings, decoder] = [words.map((word) => encoder.encode(`${word}\0`)), new TextDecoder()];
  const view = () => new DataView(wasi.memory.buffer);
  const bytes = (at, length) => new Uint8Array(wasi.memory.buffer, at, length);
  const path = (at, length) => decoder.decode(bytes(at, length)).replace(/^(\.?\/)+/, "");
  const isFolder = (name) => name === "" || name === ".";
  const loaded = (file) => {
    file.bytes ??= new Uint8Array(new FileReaderSync().readAsArrayBuffer(file.blob));
    return file;
  };
  const grow = (file, size) => {
    if (size > file.bytes.length) {
      const larger = new Uint8Array(Math.max(size, 2 * file.bytes.length, 4096));
      larger.set(file.bytes.subarray(0, file.size));
      file.bytes = larger;
    }
    file.size = Math.max(size, file.size);
  };
  const stat = (at, kind, size, number) => {
    bytes(at, 64).fill(0);
    view().setBigUint64(at + 8, BigInt(number), true);
    view().setUint8(at + 16, kind);
    view().setBigUint64(at + 24, 1n, true);
    view().setBigUint64(at + 32, BigInt(size), true);
    return OK;
  };
  const number = (name) => [...folder.keys()].indexOf(name) + 2;
  const parts = (at, count) =>
    Array.from({ length: count }, (_, i) => [view().getUint32(at + 8 * i, true), view().getUint32(at + 8 * i + 4, true)]);
  const list = (items, pointers, buffer) => {
    for (const item of items) {
      view().setUint32(pointers, buffer, true);
      bytes(buffer, item.length).set(item);
      [pointers, buffer] = [pointers + 4, buffer + item.length];
    }
    return OK;
  };
  const sizes = (items, count, length) => {
    view().setUint32(count, items.length, true);
    view().setUint32(length, items.reduce((sum, item) => sum + item.length, 0), true);
    return OK;
  };
  const functions = {
    args_get: (pointers, buffer) => list(strings, pointers, buffer),
    args_sizes_get: (count, length) => sizes(strings, count, length),
    environ_get: () => OK,
    environ_sizes_get: (count, length) => sizes([], count, length),
    clock_time_get(clock, _, at) {
      const millis = clock === 0 ? Date.now() : performance.now();
      view().setBigUint64(at, BigInt(Math.round(millis * 1e6)), true);
      return OK;
    },
    random_get(at, length) {
      // This gives at most so many bytes at a time.
      for (let from = 0; from < length; from += 65536) crypto.getRandomValues(bytes(at + from, Math.min(65536, length - from)));
      return OK;
    },
    proc_exit(code) {
      throw new Exit(code);
    },
    sched_yield: () => OK,
    fd_prestat_get(fd, at) {
      if (fd !== 3) return BADF;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, 1, true);
      return OK;
    },
    fd_prestat_dir_name(_, at) {
      bytes(at, 1)[0] = 47;
      return OK;
    },
    fd_fdstat_get(fd, at) {
      bytes(at, 24).fill(0);
      view().setUint8(at, fd === 3 ? FOLDER : FILE);
      view().setBigUint64(at + 8, ~0n & 0xffffffffffffffffn, true);
      view().setBigUint64(at + 16, 0xffffffffffffffffn, true);
      return fd <= 3 || open.has(fd) ? OK : BADF;
    },
    fd_filestat_get(fd, at) {
      if (fd <= 3) return stat(at, fd === 3 ? FOLDER : FILE, 0, 1);
      const { file, name } = open.get(fd) ?? {};
      return file ? stat(at, FILE, file.size, number(name)) : BADF;
    },
    path_filestat_get(_, __, at, length, to) {
      const name = path(at, length);
      if (isFolder(name)) return stat(to, FOLDER, 0, 1);
      const file = folder.get(name);
      return file ? stat(to, FILE, file.size, number(name)) : NOENT;
    },
    path_open(_, __, at, length, how, ___, ____, _____, to) {
      const name = path(at, length);
      let fd = 4;
      while (open.has(fd)) fd += 1;
      if (isFolder(name)) {
        open.set(fd, { file: { bytes: new Uint8Array(), size: 0 }, name, at: 0 });
      } else {
        if (folder.has(name) && how & EXCLUSIVE) return EXIST;
        if (!folder.has(name) && !(how & CREATE)) return NOENT;
        if (!folder.has(name) || how & TRUNCATE) folder.set(name, { bytes: new Uint8Array(), size: 0, isNew: true });
        open.set(fd, { file: loaded(folder.get(name)), name, at: 0 });
      }
      view().setUint32(to, fd, true);
      return OK;
    },
    fd_close: (fd) => (open.delete(fd) ? OK : BADF),
    fd_sync: () => OK,
    fd_seek(fd, by, from, to) {
      const handle = open.get(fd);
      if (!handle) return BADF;
      const at = [0, handle.at, handle.file.size][from] + Number(by);
      if (at < 0) return INVAL;
      handle.at = at;
      view().setBigUint64(to, BigInt(at), true);
      return OK;
    },
    fd_read(fd, at, count, to) {
      const handle = open.get(fd);
      let read = 0;
      for (const [start, length] of handle ? parts(at, count) : []) {
        const some = handle.file.bytes.subarray(handle.at, Math.min(handle.at + length, handle.file.size));
        bytes(start, some.length).set(some);
        [handle.at, read] = [handle.at + some.length, read + some.length];
      }
      if (handle) tell(handle.name, handle.at, handle.file.size);
      view().setUint32(to, read, true);
      return handle || fd === 0 ? OK : BADF;
    },
    fd_write(fd, at, count, to) {
      const handle = open.get(fd);
      if (!handle && fd !== 1 && fd !== 2) return BADF;
      let written = 0;
      for (const [start, length] of parts(at, count)) {
        const some = bytes(start, length);
        if (handle) {
          grow(handle.file, handle.at + length);
          handle.file.bytes.set(some, handle.at);
          handle.file.isNew = true;
          handle.at += length;
        } else {
          write(fd - 1, some);
        }
        written += length;
      }
      view().setUint32(to, written, true);
      return OK;
    },
    path_link(_, __, at, length, ___, to, toLength) {
      const [from, name] = [path(at, length), path(to, toLength)];
      if (folder.has(name)) return EXIST;
      folder.set(name, folder.get(from));
      return folder.get(name) ? OK : NOENT;
    },
    path_rename(_, at, length, __, to, toLength) {
      const [from, name] = [path(at, length), path(to, toLength)];
      if (!folder.has(from)) return NOENT;
      folder.set(name, folder.get(from));
      folder.delete(from);
      return OK;
    },
    path_unlink_file: (_, at, length) => (folder.delete(path(at, length)) ? OK : NOENT),
  };
  // What the program names and never calls here.
  wasi.imports = new Proxy(functions, { get: (known, name) => known[name] ?? (() => NOSYS) });
  return wasi;
}
