// The shell around the command: files, forms, and what the command prints. What is said is said by the command.
const $ = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).blob();
}

// The command, in a worker.

const waiting = new Map();
const workerUrl = URL.createObjectURL(new Blob([$("#worker").textContent], { type: "text/javascript" }));
let worker, module, calls = 0;

function start() {
  worker = new Worker(workerUrl);
  worker.onmessage = ({ data }) => {
    if (data.module) module = data.module;
    else if (data.result) settle(data.id, data.result);
    else waiting.get(data.id)?.tell?.(data);
  };
  worker.onerror = (event) => waiting.forEach((_, id) => settle(id, { code: 101, stdout: "", stderr: `error: ${event.message}`, files: {} }));
  worker.postMessage(module ? { module } : { packed: $("#command").textContent });
}

function settle(id, done) {
  waiting.get(id)?.resolve(done);
  waiting.delete(id);
}

/** Runs `calib` with these words over these files: the exit code, what is printed, and the files that it wrote. */
function run(words, files = {}, tell) {
  return new Promise((resolve) => {
    const id = (calls += 1);
    waiting.set(id, { resolve, tell });
    worker.postMessage({ id, words, files });
  });
}

function cancel() {
  worker.terminate();
  start();
  [...waiting.keys()].forEach((id) => settle(id, { canceled: true, code: 130, stdout: "", stderr: "", files: {} }));
}

// Files, each in the slot that it is for.

const slots = {};
let looked = 0;

function safe(name, slot) {
  const plain = name.replace(/[/\\\0]/g, "_").replace(/^[-.]+/, "_") || "table";
  const isTaken = Object.entries(slots).some(([other, held]) => other !== slot && held.name === plain);
  return isTaken ? `${slot}-${plain}` : plain;
}

async function fill(slot, blob, name) {
  slots[slot] = { blob, name: safe(name, slot) };
  const field = $(`[data-slot="${slot}"]`);
  field.classList.add("full");
  const holds = $(".holds", field);
  const size = (blob.size < 1e6 ? `${Math.ceil(blob.size / 1e3)} kB` : `${(blob.size / 1e6).toFixed(1)} MB`);
  holds.textContent = `${slots[slot].name}, ${size}`;
  const mine = (looked += 1);
  const { code, stdout, stderr } = await run(["look", slots[slot].name], { [slots[slot].name]: blob });
  const found = code === 0 ? JSON.parse(stdout) : null;
  if (!found) holds.textContent += `\n${stderr}`;
  if (found?.holds === "artifact" && slot !== "artifact") {
    empty(slot);
    await fill("artifact", blob, name);
    return inspect();
  }
  if (slot === "cal" && found && mine === looked) columns(found);
  ready();
}

function empty(slot) {
  delete slots[slot];
  const field = $(`[data-slot="${slot}"]`);
  field.classList.remove("full");
  $(".holds", field).textContent = "";
  ready();
}

/** Offers the columns that a table has. */
function columns({ columns }) {
  for (const name of ["score-column", "label-column"]) {
    const select = $(`#fit [name="${name}"]`);
    const kept = select.value;
    select.replaceChildren(new Option("automatic", ""), ...(columns ?? []).map((column) => new Option(column)));
    select.value = columns?.includes(kept) ? kept : "";
  }
}

function ready() {
  $("#fit button.first").disabled = !slots.cal;
  $("#assess button.first").disabled = !slots.test || !slots.artifact;
  $("#inspect button.first").disabled = !slots.artifact;
  $("#device input").disabled = !slots.artifact;
}

for (const field of all(".slot")) {
  const { slot } = field.dataset;
  const input = element("input", { type: "file", ariaLabel: $("legend", field).textContent });
  input.onchange = () => input.files[0] && fill(slot, input.files[0], input.files[0].name);
  const holds = element("p", { className: "holds" });
  field.append(element("p", { className: "drop", textContent: "Drop a file here, or choose one:" }), input, holds);
  if (slot !== "artifact") {
    const text = element("textarea", { ariaLabel: `Paste: ${$("legend", field).textContent}`, spellcheck: false });
    const take = () => (text.value.trim() ? fill(slot, new Blob([text.value]), `${slot}.csv`) : empty(slot));
    // Once after a change, however many events it has.
    let waiting;
    text.oninput = () => {
      clearTimeout(waiting);
      waiting = setTimeout(take, 200);
    };
    field.append(element("details", {}, element("summary", { textContent: "Paste" }), text));
  }
  field.ondragover = () => field.classList.add("over");
  field.ondragleave = () => field.classList.remove("over");
}
document.ondragover = (event) => event.preventDefault();
document.ondrop = async (event) => {
  event.preventDefault();
  all(".over").forEach((field) => field.classList.remove("over"));
  let slot = event.target.closest?.(".slot")?.dataset.slot;
  for (const file of event.dataTransfer.files) {
    await fill(slot ?? (slots.cal ? "test" : "cal"), file, file.name);
    slot = undefined;
  }
};

// Work, one piece at a time.

let isWorking = false;

async function work(doing, job) {
  if (isWorking) return;
  isWorking = true;
  const start = performance.now();
  const [box, bar] = [$("#work"), $("#progress")];
  const show = (what) => ($("#doing").textContent = `${what} … ${Math.round((performance.now() - start) / 1000)} s`);
  let shown = doing;
  const ticking = setInterval(() => show(shown), 500);
  show(doing);
  box.hidden = false;
  bar.removeAttribute("value");
  const tell = ({ reading, done, total }) => {
    if (done < total) bar.value = done / total;
    else bar.removeAttribute("value");
    shown = done < total ? reading : doing;
  };
  try {
    await job(tell);
  } finally {
    clearInterval(ticking);
    box.hidden = true;
    isWorking = false;
  }
}

const filesOf = (...names) => Object.fromEntries(names.filter((name) => slots[name]).map((name) => [slots[name].name, slots[name].blob]));
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
const value = (form, name) => $(`[name="${name}"]`, form).value.trim();
const option = (form, name) => (value(form, name) ? [`--${name}=${value(form, name)}`] : []);

/** The paragraphs of a text: a line that is indented, or follows one without an end, goes on with the one before. */
function paragraphs(text) {
  const lines = [];
  for (const line of text.split("\n").filter((line) => line.trim())) {
    const isEnded = /[.:!?]$/.test(lines.at(-1) ?? ".") || /^(\w+:|Wrote|wrote|[A-Z]\w+\s{2,})/.test(line);
    const isNew = /^\s+hint:/.test(line) || (!/^\s/.test(line) && isEnded) || !lines.length;
    if (isNew) lines.push(line.trim());
    else lines[lines.length - 1] += ` ${line.trim()}`;
  }
  return lines;
}

/** What the command printed. */
function said({ code, canceled, stdout, stderr }) {
  const box = element("div", { className: code ? "said failed" : "said" });
  if (canceled) box.append(element("p", { className: "error", textContent: "Canceled" }));
  if (code) box.setAttribute("role", "alert");
  const lines = [stderr, stdout].flatMap(paragraphs);
  for (const line of lines.filter((line) => !/^(next|wrote\b)/.test(line))) {
    const [, label, rest] = line.match(/^([A-Z]\w+)\s{2,}(.*)$/) ?? [];
    const className = line.match(/^(warning|note|error|hint):/)?.[1] ?? "";
    box.append(element("p", { className }, ...(label ? [element("strong", { textContent: label }), ` ${rest}`] : [line])));
  }
  return box;
}

const typed = (words) => element("code", { className: "typed", textContent: ["calib", ...words].map(quoted).join(" ") });
const table = (text) => element("pre", { textContent: text.trimEnd(), tabIndex: 0 });

function download(text, blob, name) {
  return element("a", { className: "button", textContent: text, href: URL.createObjectURL(blob), download: name });
}

/** The words for rows: their file under an option, their labels, and how they are read. */
function rows(slot, kind, labels) {
  const form = $("#fit");
  const words = kind ? [kind, slots[slot].name] : [slots[slot].name];
  if (slots[`${slot}-labels`]) words.push(labels, slots[`${slot}-labels`].name);
  return words.concat(reading(form));
}

const reading = (form) => [
  ...["score-column", "label-column", "positive-label"].flatMap((name) => option(form, name)),
  ...($("[name=drop-missing]", form).checked ? ["--drop-missing"] : []),
];

let fitted;

async function fit() {
  const form = $("#fit");
  const output = `${slots.cal.name.replace(/\.[^.]*$/, "") || "calibrator"}.cal`;
  const kind = value(form, "kind");
  const words = ["fit", ...rows("cal", kind && `--${kind}`, "--labels")];
  for (const name of ["method", "bins", "alpha", "reduction"]) words.push(...option(form, name));
  words.push(...value(form, "more").split(/\s+/).filter(Boolean), "-o", output, "--force");
  await work("calib fit", async (tell) => {
    const done = await run(words, filesOf("cal", "cal-labels"), tell);
    const artifact = done.files[output];
    const result = [typed(words), said(done)];
    if (artifact) {
      fitted = output;
      await fill("artifact", artifact, output);
      result.push(await downloads(artifact, output));
    }
    $("#fit-result").replaceChildren(...result);
    await answer();
  });
}

async function downloads(artifact, name) {
  const links = element("p", { className: "buttons" }, download("Artifact", artifact, name));
  for (const [language, text, ending] of [["c", "C header", "h"], ["rust", "Rust", "rs"]]) {
    const source = name.replace(/\.[^.]*$/, `.${ending}`);
    const made = await run(["export", name, "--format", language, "-o", source, "--force"], { [name]: artifact });
    if (made.files[source]) links.append(download(text, made.files[source], source));
    else links.append(said(made));
  }
  return links;
}

async function assess() {
  const artifact = slots.artifact.name;
  const kind = value($("#fit"), "kind");
  await work("calib assess", async (tell) => {
    const holds = JSON.parse((await run(["look", slots.test.name], filesOf("test"))).stdout || "{}").holds;
    const source = kind || (holds === "classes" ? "probs" : "scores");
    const words = ["assess", artifact, ...rows("test", `--${source}`, "--labels")];
    const done = await run(words, filesOf("artifact", "test", "test-labels"), tell);
    const result = [typed(words), assessed(done)];
    $("#assess-result").replaceChildren(...result);
    if (done.code || fitted !== artifact || !slots.cal) return;
    const of = (slot, option) => {
      const labels = slots[`${slot}-labels`];
      return [option, slots[slot].name, ...(labels ? [`${option}-labels`, labels.name] : [])];
    };
    const vectors = ["probs", "logits"].includes(source) ? [`--${source}`] : [];
    const ask = ["report", artifact, ...of("cal", "--calibration"), ...of("test", "--test"), ...vectors, ...reading($("#fit"))];
    ask.push("-o", "report.html", "--force");
    const made = await run(ask, filesOf("artifact", "cal", "cal-labels", "test", "test-labels"), tell);
    const report = made.files["report.html"];
    result.push(typed(ask), ...(report ? await shown(report) : [said(made)]));
    $("#assess-result").replaceChildren(...result);
  });
}

/** The verdict in paragraphs, and the figures as the table that they are. */
function assessed(done) {
  const [verdict, ...figures] = done.stdout.split(/\n\n/);
  const box = said({ ...done, stdout: verdict });
  const text = figures.join("\n\n");
  return text ? element("div", {}, box, table(text)) : box;
}

async function shown(report) {
  const frame = element("iframe", { title: "Report", srcdoc: await report.text() });
  // No script of a report runs; the page prints it.
  frame.setAttribute("sandbox", "allow-same-origin allow-modals");
  const print = element("button", { type: "button", textContent: "Print the report", onclick: () => frame.contentWindow.print() });
  return [element("p", { className: "buttons" }, download("Report", report, "report.html"), print), frame];
}

async function inspect() {
  const words = ["inspect", slots.artifact.name, "--all"];
  await work("calib inspect", async (tell) => {
    const done = await run(words, filesOf("artifact"), tell);
    const body = done.code ? said(done) : table(done.stdout);
    const links = done.code ? [] : [await downloads(slots.artifact.blob, slots.artifact.name)];
    $("#inspect-result").replaceChildren(typed(words), body, ...links);
    await answer();
  });
}

let asked = 0;

/** What the device says of what is typed. */
async function answer() {
  const text = value($("#device"), "output");
  const mine = (asked += 1);
  if (!text || !slots.artifact) return $("#device-result").replaceChildren();
  const done = await run(["device", slots.artifact.name, ".output"], { ...filesOf("artifact"), ".output": new Blob([text]) });
  if (mine !== asked) return;
  if (done.code) return $("#device-result").replaceChildren(said(done));
  const [found] = JSON.parse(done.stdout);
  const list = element("dl");
  const flat = (object) => Object.entries(object).flatMap(([name, inner]) => (inner?.constructor === Object ? flat(inner) : [[name, inner]]));
  const seen = new Set();
  for (const [name, content] of flat(found)) {
    if (content === null || (Array.isArray(content) && !content.length) || seen.has(name)) continue;
    seen.add(name);
    list.append(element("dt", { textContent: name }), element("dd", { textContent: String(content).replaceAll(",", ", ") }));
  }
  $("#device-result").replaceChildren(list);
}

async function plan() {
  const form = $("#plan");
  const words = ["plan", ...["n", "bins", "epsilon", "alpha"].flatMap((name) => option(form, name))];
  await work("calib plan", async (tell) => {
    const done = await run(words, {}, tell);
    $("#plan-result").replaceChildren(typed(words), done.code ? said(done) : table(done.stdout));
  });
}

async function example() {
  await fill("cal", new Blob([$("#example-cal").textContent]), "cal.csv");
  await fill("test", new Blob([$("#example-test").textContent]), "test.csv");
  $("#fit").reset();
  await fit();
  await assess();
}

for (const [name, job] of Object.entries({ fit, assess, inspect, plan })) {
  $(`#${name}`).onsubmit = (event) => {
    event.preventDefault();
    if (!$("button.first", event.target).disabled) job();
  };
}
$("#device").onsubmit = (event) => event.preventDefault();
$("#device input").oninput = answer;
$("#cancel").onclick = cancel;
$("#example").onclick = example;

start();
const names = JSON.parse((await run(["names"])).stdout);
$("#version").textContent = names.version;
for (const [list, select] of [["methods", "method"], ["reductions", "reduction"]]) {
  $(`#fit [name="${select}"]`).append(...names[list].map(([name, what]) => Object.assign(new Option(name), { title: what })));
}
$("#fit").onchange = () => {
  const chosen = all("#fit [name=method] option, #fit [name=reduction] option").filter((choice) => choice.selected && choice.title);
  $("#meaning").textContent = chosen.map((choice) => `${choice.value}: ${choice.title}.`).join(" ");
};
$("#about").append(download("Licenses of what this page holds", await unpacked($("#notices").textContent), "licenses.txt"));
$("#example").disabled = false;
$("#plan button.first").disabled = false;
ready();
/** For those who would rather type. */
window.calib = { run, fill };
document.documentElement.dataset.ready = "";
