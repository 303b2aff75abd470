// Shared by the players. Stands inside `function (root, data) { … }`; touches nothing but `root`.
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const el = (tag, name, ...kids) => {
  const node = document.createElement(tag);
  if (name) node.className = name;
  node.append(...kids);
  return node;
};
const button = (text, act, label) => {
  const node = el("button", "msw-button", text);
  node.type = "button";
  if (label) node.setAttribute("aria-label", label);
  node.addEventListener("click", act);
  return node;
};

// A text in parts, as `text_parts` in frame.py has it.
const SIGNS = { " ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥" };
const textParts = (text) => {
  if (!text) return [["empty", "empty"]];
  const chars = [...text], parts = [];
  chars.forEach((char, place) => {
    let kind = "text", shown = char;
    const around = (chars[place - 1] || "") + (chars[place + 1] || "");
    const between = place > 0 && place < chars.length - 1 && !/^\s+$/.test(around);
    if (char in SIGNS) [kind, shown] = ["sign", SIGNS[char]];
    else if (char === "\ufffd") kind = "bad";
    else if (/[\p{C}\p{Z}]/u.test(char) && !(/[\u200c\u200d]/.test(char) && between)) {
      kind = "code";
      shown = char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    }
    const last = parts[parts.length - 1];
    if (kind === "text" && last && last[0] === "text") last[1] += shown;
    else if (kind === "text" && /\p{M}/u.test(char)) parts.push(["text", "\u25cc" + shown]);
    else parts.push([kind, shown]);
  });
  return parts;
};
const visible = (text, name) => {
  const node = el("bdi", name || "");
  for (const [kind, shown] of textParts(text)) {
    node.append(kind === "text" ? shown : el("span", "msw-" + kind, shown));
  }
  return node;
};
const said = (text) => (text ? "“" + text.replace(/\n/g, " line end ") + "”" : "nothing");

// Moves what is in `nodes` from where it stood to where it stands after `change`.
const glide = (nodes, change) => {
  const before = nodes.map((node) => node.getBoundingClientRect().left);
  change();
  if (still()) return;
  nodes.forEach((node, n) => {
    const way = before[n] - node.getBoundingClientRect().left;
    const frames = [{ transform: `translateX(${way}px)` }, { transform: "none" }];
    if (way && node.animate) node.animate(frames, { duration: 280, easing: "ease-out" });
  });
};

// Buttons and keys that go through `count` steps. `draw(step)` shows one; `mayLeave(step)` is asked
// before a step forward, `title` stands above.
const stepper = ({ count, draw, mayLeave, title, extra }) => {
  let at = 0, timer = 0;
  const play = button("▶ Play", () => (timer ? pause() : start()));
  const back = button("← Back", () => go(at - 1));
  const next = button("Step →", () => forward());
  const first = button("⇤ First", () => go(0));
  const last = button("Last ⇥", () => go(count - 1));
  const where = el("span", "msw-where");
  const speed = el("select", "msw-speed");
  for (const times of ["0.5", "1", "2", "4"]) speed.append(new Option(times + "×", times));
  speed.value = "1";
  const paced = el("label", "msw-label", "Speed ", speed);
  const bar = el("div", "msw-bar", first, back, play, next, last, paced, ...(extra || []), where);
  const pause = () => {
    clearTimeout(timer);
    timer = 0;
    play.textContent = "▶ Play";
  };
  const start = () => {
    if (at >= count - 1) go(0);
    play.textContent = "❚❚ Pause";
    const tick = () => {
      if (!root.isConnected || !forward(true) || at >= count - 1) return pause();
      timer = setTimeout(tick, 1100 / Number(speed.value));
    };
    timer = setTimeout(tick, 350 / Number(speed.value));
  };
  const go = (step) => {
    at = Math.max(0, Math.min(count - 1, step));
    where.textContent = `Step ${at + 1} of ${count}`;
    root.dataset.step = at;
    for (const [node, off] of [[first, !at], [back, !at], [next, at === count - 1], [last, at === count - 1]]) {
      node.setAttribute("aria-disabled", off);
    }
    draw(at);
  };
  const forward = (playing) => {
    if (mayLeave && !mayLeave(at, playing)) return false;
    go(at + 1);
    return true;
  };
  const KEYS = {
    ArrowRight: () => (pause(), forward()), ArrowLeft: () => (pause(), go(at - 1)),
    Home: () => (pause(), go(0)), End: () => (pause(), go(count - 1)),
    " ": () => play.click(),
  };
  root.tabIndex = 0;
  root.dataset.lmSuppressShortcuts = "true"; // JupyterLab's keys rest in here
  root.dataset.steps = count;
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = /^(INPUT|SELECT)$/.test(event.target.tagName);
    const pressed = event.key === " " && /^(BUTTON|SUMMARY)$/.test(event.target.tagName);
    if (event.key === "Tab") return;
    event.stopPropagation();
    if (field || pressed || !(event.key in KEYS)) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  const whole = el("details", "msw-all", el("summary", "", "All steps as a table"));
  const style = root.querySelector("style");
  const others = [...root.children].filter((node) => !/^(STYLE|SCRIPT)$/.test(node.tagName));
  const body = el("div", "msw-body");
  style.after(el("div", "msw-title", title), bar, body, whole);
  whole.append(...others);
  return { body, go, forward, pause, get at() { return at; } };
};
