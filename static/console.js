// The console's only script. Every page works without it; it adds live regions, dialogs and keys.
"use strict";

// Live: one poll a page. The region asks for itself and is morphed, so that selection, focus and scroll stay.

const EVERY = 5; // seconds; a region that holds something under way says data-every="1"
const HIDDEN_FACTOR = 6; // a tab that nobody looks at asks less often

function startLive(region) {
  const state = document.getElementById("live-state");
  let lastAnswer = new Date();

  let timer;

  const say = (text, isStale) => {
    // Written only when it changes: a screen reader speaks every change.
    if (state.textContent !== text) state.textContent = text;
    state.classList.toggle("stale", isStale);
  };
  const schedule = () => {
    const every = Number(region.querySelector("[data-every]")?.dataset.every ?? EVERY);
    clearTimeout(timer);
    timer = setTimeout(tick, every * 1000 * (document.hidden ? HIDDEN_FACTOR : 1));
  };
  const tick = () => htmx.trigger(region, "tick");

  region.addEventListener("htmx:afterRequest", (event) => {
    if (event.target !== region) return;
    if (event.detail.successful) {
      lastAnswer = new Date();
      say("live", false);
    } else {
      say(`stale since ${lastAnswer.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" })}`, true);
    }
    schedule();
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && new Date() - lastAnswer > EVERY * 1000) tick();
  });
  say("live", false);
  schedule();
}

function showAttention() {
  const count = document.getElementById("nav")?.dataset.attention ?? "0";
  const icon = document.getElementById("favicon");
  const href = icon.getAttribute("href").split("?")[0] + (count === "0" ? "" : `?n=${count}`);
  if (icon.getAttribute("href") !== href) icon.setAttribute("href", href);
}
document.addEventListener("htmx:oobAfterSwap", showAttention);

// What a person has set in the page is theirs: controls, open details and chosen rows are not morphed.
Idiomorph.defaults.callbacks.beforeNodeMorphed = (node) =>
  !(node instanceof Element && node.matches("input:not([type=hidden]), select, textarea"));
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
  !(name === "open" || (name === "class" && node.classList.contains("cursor")));

// Dialogs: a link with data-dialog leads to a confirmation page; here it opens in place.

function openDialog(address) {
  const dialog = document.getElementById("dialog");
  const goThere = () => location.assign(address);
  dialog.replaceChildren();
  htmx.ajax("GET", address, { target: dialog, swap: "innerHTML ignoreTitle:true" }).then(() => {
    // Nothing came: the page itself says why.
    if (!dialog.firstElementChild) return goThere();
    dialog.showModal();
    dialog.querySelector("[autofocus]")?.focus();
    // Who is about to type a reason has read first what it is for.
    dialog.scrollTop = 0;
  }, goThere);
}

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-dialog], [data-close], [data-dismiss]");
  if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const dialog = document.getElementById("dialog");
  if (target.matches("[data-dialog]")) {
    event.preventDefault();
    openDialog(target.href);
  } else if (target.matches("[data-close]") && dialog.open) {
    event.preventDefault();
    dialog.close();
  } else if (target.matches("[data-dismiss]")) {
    target.closest(".message").remove();
  }
});

// A form is sent once, however often its button is clicked; a download leaves the page as it is and may be repeated.
const sent = new WeakSet();
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || form.hasAttribute("data-download")) return;
  if (sent.has(form)) event.preventDefault();
  sent.add(form);
});
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

// Keys.

let isGoing = false;

function moveCursor(step) {
  const rows = [...document.querySelectorAll(".needs li, tbody tr")];
  if (!rows.length) return;
  const current = rows.findIndex((row) => row.classList.contains("cursor"));
  const next = Math.min(Math.max(current + step, 0), rows.length - 1);
  rows[current]?.classList.remove("cursor");
  rows[next].classList.add("cursor");
  rows[next].scrollIntoView({ block: "nearest" });
  rows[next].querySelector("a")?.focus({ preventScroll: true });
}

// Selection: while rows are ticked, the actions take the place of the filter bar.

function countSelected() {
  for (const form of document.querySelectorAll("form.selectable")) {
    const ticked = form.querySelectorAll("tbody input[type=checkbox]:checked").length;
    const isAll = form.querySelector("input[name=scope]")?.checked;
    form.classList.toggle("has-selection", Boolean(ticked || isAll));
    document.body.classList.toggle("is-selecting", Boolean(ticked || isAll));
    const label = form.querySelector("[data-selected-count]");
    if (label) label.textContent = isAll ? "all" : ticked;
  }
}
document.addEventListener("change", countSelected);
// Whoever fills in a choice's own field has chosen it.
document.addEventListener("input", ({ target }) => {
  const choice = target.closest(".choices label")?.querySelector("input[type=radio]");
  if (choice) choice.checked = true;
});
document.addEventListener("htmx:afterSettle", countSelected);
document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-select-page], [data-copy], [data-dialog-form]");
  if (!target) return;
  if (target.matches("[data-select-page]")) {
    const boxes = [...target.form.querySelectorAll("tbody input[type=checkbox]")];
    const isFull = boxes.every((box) => box.checked);
    for (const box of boxes) box.checked = !isFull;
    countSelected();
  } else if (target.matches("[data-copy]")) {
    navigator.clipboard?.writeText(document.querySelector(target.dataset.copy).textContent);
    target.textContent = "Copied";
  } else {
    event.preventDefault();
    const data = new FormData(target.form);
    if (data.get("scope") === "matching") data.delete("id");
    openDialog(`${target.formAction}?${new URLSearchParams(data)}`);
  }
});

const keys = {
  "?": () => document.getElementById("keys").showModal(),
  "/": () => document.querySelector(".filters input, .filters select")?.focus(),
  j: () => moveCursor(1),
  k: () => moveCursor(-1),
  x: () => document.querySelector(".cursor input[type=checkbox]")?.click(),
  Enter: () => document.querySelector(".cursor a")?.click(),
  n: () => document.querySelector("a[rel=next]")?.click(),
  p: () => document.querySelector("a[rel=prev]")?.click(),
  g: () => { isGoing = true; },
};

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, select, textarea, dialog[open], [contenteditable]");
  const isOnControl = event.key === "Enter" && event.target.closest("a, button, summary");
  if (isTyping || isOnControl || event.ctrlKey || event.metaKey || event.altKey) return;
  const goTo = isGoing && document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`);
  isGoing = false;
  if (goTo) {
    goTo.click();
  } else if (Object.hasOwn(keys, event.key)) {
    event.preventDefault();
    keys[event.key]();
  }
});

const region = document.getElementById("live");
if (region?.hasAttribute("hx-get")) startLive(region);

// On a narrow screen sections and tabs scroll; the one that is open is to be seen, beside the live mark too.
for (const open of document.querySelectorAll("#nav [aria-current], .tabs [aria-current]")) {
  open.scrollIntoView({ block: "nearest", inline: "center" });
}
