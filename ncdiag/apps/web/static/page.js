// What the page does more where scripts run: files are dropped, nothing is loaded anew, lines are copied, language and
// theme are switched. Without it the form and its answer work as well.
const $ = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const root = document.documentElement;
const form = $("#form"), text = $("#text"), files = $("#files"), chosen = $("#chosen");
const state = $("#status"), result = $("#result"), judge = $("#judge");
const table = await (await fetch("words.json")).json();
let sending = null;

const say = (word, values = {}) =>
  table[root.dataset.language][word].replace(/\{(\w+)\}/g, (hole, name) => values[name] ?? hole);
const tell = (sentence) => { if (state.textContent !== sentence) state.textContent = sentence; };

// files

function choose(list) {
  const held = new DataTransfer();
  for (const file of list) held.items.add(file);
  files.files = held.files;
  chosen.replaceChildren(...[...files.files].map((file, index) => {
    const item = document.createElement("li"), name = document.createElement("span"), button = document.createElement("button");
    name.textContent = `${file.name} (${size(file.size)})`;
    button.type = "button";
    button.className = "small";
    button.textContent = "\u00d7";
    button.setAttribute("aria-label", say("remove", { name: file.name }));
    button.addEventListener("click", () => {
      choose([...files.files].filter((_, other) => other !== index));
      files.focus();
    });
    item.append(name, button);
    return item;
  }));
  chosen.hidden = !files.files.length;
}

function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) { bytes /= 1024; unit += 1; }
  return `${bytes.toFixed(unit && bytes < 10 ? 1 : 0)} ${units[unit]}`;
}

let before = [];
files.addEventListener("click", () => { before = [...files.files]; });
files.addEventListener("change", () => { if (files.files.length) choose([...before, ...files.files]); else choose(before); });
const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");
addEventListener("dragover", (event) => { if (holdsFiles(event)) { event.preventDefault(); root.classList.add("dropping"); } });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) root.classList.remove("dropping"); });
addEventListener("drop", (event) => {
  root.classList.remove("dropping");
  if (!holdsFiles(event)) return;
  event.preventDefault();
  choose([...files.files, ...event.dataTransfer.files]);
  form.scrollIntoView({ block: "nearest" });
});
$("#pick").hidden = false; // in the language of the page; the browser's own button is in that of the browser
$("#pick .button").addEventListener("click", () => files.click());

// A long paste becomes a file: a text field with it would block the tab.
const LONG = 2 << 20; // letters
text.addEventListener("paste", (event) => {
  const pasted = event.clipboardData?.getData("text/plain") ?? "";
  if (pasted.length <= LONG) return;
  event.preventDefault();
  const taken = new Set([...files.files].map((file) => file.name));
  let name = "pasted.txt";
  for (let number = 2; taken.has(name); number += 1) name = `pasted-${number}.txt`;
  const file = new File([pasted], name, { type: "text/plain" });
  choose([...files.files, file]);
  tell(say("pasted", { name, size: size(file.size) }));
});

// sending

function send() {
  const total = [...files.files].reduce((sum, file) => sum + file.size, new Blob([text.value]).size);
  if (!total) { tell(say("nothing")); text.focus(); return; }
  if (total > Number(root.dataset.limit)) { tell(say("too_large")); return; }
  sending?.abort();
  const request = sending = new XMLHttpRequest();
  let read = 0;
  const events = () => {
    const lines = request.responseText.slice(read).split("\n");
    read += request.responseText.length - read - lines.pop().length;
    for (const line of lines) event(JSON.parse(line));
  };
  const event = (told) => {
    if (told.before) tell(say("waiting", { before: told.before }));
    else if (told.result !== undefined) show(told.result);
  };
  request.upload.addEventListener("progress", (sent) => {
    const percent = sent.total ? Math.floor(100 * sent.loaded / sent.total) : 100;
    tell(percent < 100 ? say("sending", { percent }) : say("answering"));
  });
  request.addEventListener("progress", events);
  request.addEventListener("load", () => {
    if (read < request.responseText.length) {
      try { event(JSON.parse(request.responseText.slice(read))); } catch { fail(); }
    }
    finish(request);
  });
  request.addEventListener("error", () => { fail(); finish(request); });
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/x-ndjson");
  result.setAttribute("aria-busy", "true");
  judge.setAttribute("aria-disabled", "true");
  tell(say("answering"));
  request.send(new FormData(form));
}

function finish(request) {
  if (request !== sending) return;
  if (result.getAttribute("aria-busy")) fail();
  sending = null;
}

function fail() {
  over();
  tell(say("unreachable"));
}

function over() {
  result.removeAttribute("aria-busy");
  judge.removeAttribute("aria-disabled");
}

function show(html) {
  result.innerHTML = html; // written and escaped by the server, and the page's policy lets nothing in it run
  over();
  tell(say("ready"));
  equip(result);
  result.focus({ preventScroll: true });
  result.scrollIntoView({ block: "start" });
}

form.addEventListener("submit", (event) => { event.preventDefault(); send(); });
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); send(); }
});
const clear = $("#clear");
clear.hidden = false;
clear.addEventListener("click", () => {
  sending?.abort();
  sending = null;
  over();
  form.reset();
  choose([]);
  result.replaceChildren();
  tell("");
  history.replaceState(null, "", location.pathname + location.search);
  text.focus();
});

// the answer

function equip(part) {
  for (const block of all(".paste", part)) {
    const button = copier("copy", () => linesOf($("pre code", block)));
    const name = $(".launcher", block)?.textContent ?? "";
    button.setAttribute("aria-label", `${say("copy")}: ${name}`);
    block.append(button);
  }
  const markdown = $('.downloads a[download$=".md"]', part);
  if (markdown) $(".downloads", part).append(copier("copy_all", () => textOf(markdown.href)));
}

function copier(word, read) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.dataset.say = word;
  button.textContent = say(word);
  button.addEventListener("click", async () => {
    const done = await copy(read(), button);
    button.textContent = done ? say("copied") : say("copy");
    tell(done ? say("copied") : say("not_copied"));
    setTimeout(() => { button.textContent = say(word); }, 2000);
  });
  return button;
}

const linesOf = (code) => [...code.childNodes].map((node) => node.nodeName === "BR" ? "\n" : node.textContent).join("");
const textOf = (address) =>
  new TextDecoder().decode(Uint8Array.from(atob(address.slice(address.indexOf(",") + 1)), (letter) => letter.charCodeAt(0)));

async function copy(what, beside) {
  try {
    await navigator.clipboard.writeText(what);
    return true;
  } catch { // pages without encryption have no clipboard
    const field = document.createElement("textarea");
    field.value = what;
    field.className = "hidden";
    beside.after(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    beside.focus();
    return done;
  }
}

// language and theme

function speak(language) {
  root.dataset.language = language;
  for (const link of all(".switches a")) {
    const own = link.dataset.to === language;
    if (own) { link.setAttribute("aria-current", "true"); root.lang = link.lang; } else link.removeAttribute("aria-current");
  }
  for (const part of all("[data-say]")) part.textContent = say(part.dataset.say);
  for (const part of all("[data-label]")) part.setAttribute("aria-label", say(part.dataset.label));
  const query = `?lang=${language}`;
  form.action = `./${query}`;
  history.replaceState(null, "", location.pathname + query + location.hash);
  choose(files.files);
  if ((sending || result.childElementCount) && (text.value || files.files.length)) send();
  else tell("");
}

$(".switches").addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.dataset.to !== root.dataset.language) speak(link.dataset.to);
});
const theme = $("#theme");
theme.value = window.ncdiagTheme.kept();
theme.addEventListener("change", () => window.ncdiagTheme.keep(theme.value));
$(".theme").hidden = false;
equip(result);
