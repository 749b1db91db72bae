// On a narrow window the menu lies over the page: close it when one of its links is followed.
// Streamlit closes only its own menu, and keeps this one open on every page. It is looked for while the click is
// on its way to the link: once Streamlit has heard of it, the link may be another element. Until the person
// clicks again, it is closed again if Streamlit reopens it, which can happen on a busy machine while a page loads.
let closing;
document.addEventListener("click", (event) => {
  if (!event.isTrusted) return; // one of our own
  clearInterval(closing);
  const link = event.target.closest("[data-testid=stSidebar] a[data-testid^=stPageLink]");
  if (link && !event.ctrlKey && !event.metaKey && window.matchMedia("(max-width: 768px)").matches) {
    let looks = 0;
    closeMenu();
    closing = setInterval(() => (++looks > 50 ? clearInterval(closing) : closeMenu()), 200);
  }
}, { capture: true });

function closeMenu() {
  const menu = document.querySelector("[data-testid=stSidebar]");
  if (menu?.dataset.collapsed === "false") menu.querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
}

// A copy button copies its own text, else the text it stands beside, and says so for a moment.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.calib-copy");
  if (!button) return;
  const beside = button.closest("[data-testid=stVerticalBlock]")?.querySelector("[data-testid=stText]");
  copy(button.dataset.text ?? beside?.textContent ?? "").then(() => {
    button.classList.add("calib-copied");
    setTimeout(() => button.classList.remove("calib-copied"), 1500);
  });
});

// The clipboard of its own name is there on this machine and with https; otherwise what is selected is copied.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const box = document.createElement("textarea");
  box.value = text;
  document.body.append(box);
  box.select();
  document.execCommand("copy");
  box.remove();
}

// Streamlit's page has the colours of the system, for which it asks by this query. A person's own choice, which the
// browser keeps, answers in the system's stead.
const DARK = "(prefers-color-scheme: dark)", CHOICE = "calib-colours", ROOT = document.documentElement;
const system = window.matchMedia(DARK), matchOthers = window.matchMedia.bind(window);
const colours = Object.defineProperties(new EventTarget(), {
  media: { value: DARK },
  matches: { get: () => (ROOT.dataset.colours === "system" ? system.matches : ROOT.dataset.colours === "dark") },
});
window.matchMedia = (query) => (query === DARK ? colours : matchOthers(query));
const announce = () => colours.dispatchEvent(new MediaQueryListEvent("change", { media: DARK, matches: colours.matches }));
const kept = (act) => { try { return act(localStorage); } catch { return null; } }; // a browser may refuse to keep anything
ROOT.dataset.colours = kept((store) => store.getItem(CHOICE)) ?? "system";
system.addEventListener("change", () => ROOT.dataset.colours === "system" && announce());
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.calib-colours");
  if (!button) return;
  ROOT.dataset.colours = button.dataset.colours;
  kept((store) => store.setItem(CHOICE, button.dataset.colours));
  announce();
});

// Figures have the colours that the page had when its script ran: run it again when these change.
// Streamlit runs the script on this key, and has its own colours changed a moment after the event. At another
// address, figures already have the new colours, and the key would lead back to the page before.
colours.addEventListener("change", () => {
  const address = location.href;
  setTimeout(whenAtRest, 200, () => {
    if (location.href !== address) return;
    for (const type of ["keydown", "keyup"]) {
      document.body.dispatchEvent(new KeyboardEvent(type, { key: "r", code: "KeyR", keyCode: 82, which: 82, bubbles: true }));
    }
  });
});

// While the script runs, Streamlit ignores that key; it would also close a dialog that is open, and lose what is
// written in it.
function whenAtRest(act) {
  const rests = document.querySelector("[data-test-script-state=notRunning]");
  if (rests && !document.querySelector("[role=dialog]")) act();
  else setTimeout(whenAtRest, 1000, act);
}

// Load the code of the tables while the server computes the first page, and that of the figures while a person
// reads it: otherwise the first table and the first figure wait for it.
if ("TABLES") import("TABLES").catch(() => {});
if ("FIGURES") {
  setTimeout(whenShown, 1000, () => (window.requestIdleCallback ?? setTimeout)(() => import("FIGURES").catch(() => {})));
}

// A table takes the browser a while to draw after the script has ended.
function whenShown(act, looks = 0) {
  const shown = document.querySelector("[data-test-script-state=notRunning]") && !document.querySelector("[data-testid=stSkeleton]");
  if (shown && looks === 3) act();
  else setTimeout(whenShown, 100, act, shown ? looks + 1 : 0);
}
