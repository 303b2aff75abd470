// Many replies: one row each, the windows moving together, and the map of their states.
const { uids, tokens, steps, pool, error } = data;
const [TOKEN, SURR, READ, SENT_AT, SENT, ENDED] = [0, 1, 2, 3, 4, 5];
const most = Math.max(1, ...steps.map((step) => step.uids.length));

const map = el("div", "msw-map");
const history = el("div", "msw-history");
history.setAttribute("aria-hidden", "true");
const columns = steps.map((step) => {
  const column = el("span", "msw-column", el("span", "msw-fill"));
  column.firstChild.style.height = `${(100 * step.uids.length) / most}%`;
  history.append(column);
  return column;
});
const say = el("p", "msw-say");
say.setAttribute("aria-live", "polite");

const rows = uids.map((uid) => {
  const grid = el("div", "msw-grid msw-small");
  grid.style.gridTemplateColumns = `repeat(${tokens[uid].length}, auto) minmax(10px, 1fr)`;
  const chips = tokens[uid].map(([id, , alone], place) => {
    const chip = el("div", "msw-chip", visible(alone, "msw-alone"), el("span", "msw-id", String(id)));
    chip.style.gridColumn = place + 1;
    grid.append(chip);
    return chip;
  });
  const bracket = (name) => {
    const node = el("div", "msw-bracket msw-bracket-" + name, el("span", "msw-arm"));
    grid.append(node);
    return node;
  };
  const arms = [bracket("surr"), bracket("read")];
  const stage = el("div", "msw-stage", grid);
  Object.assign(stage, { tabIndex: 0, role: "region", ariaLabel: `Tokens of request ${uid}` });
  const head = el("div", "msw-request"), told = el("div", "msw-offsets"), paper = el("div", "msw-paper");
  return { uid, chips, arms, stage, head, told, paper,
    node: el("div", "msw-reply", head, stage, told, paper) };
});

const { body, go } = stepper({ count: steps.length, draw, title: data.title });
body.append(say, el("div", "msw-states", map, history), ...rows.map((row) => row.node));

// The last thing that is known of a request at a step, and whether it is of this very step.
function known(uid, at) {
  for (let step = at; step >= 0; step--) {
    if (steps[step].rows[uid]) return [steps[step].rows[uid], step === at];
  }
  return [null, false];
}

function drawRow(row, at) {
  const { uid, chips, arms, stage, head, told, paper } = row;
  const [now, fresh] = known(uid, at);
  const state = !now ? "not here yet" : now[ENDED] ? "ended" : fresh ? "running" : "running, no token in this call";
  head.replaceChildren(el("strong", "", `uid ${uid}`), " ", el("span", "msw-label", state));
  row.node.classList.toggle("msw-over", !now || now[ENDED]);
  Object.assign(row.node.dataset, { uid, state, surrOffset: now ? now[SURR] : "", readOffset: now ? now[READ] : "" });
  const end = now ? now[TOKEN] + 1 : 0;
  chips.forEach((chip, place) => {
    chip.classList.toggle("msw-coming", place >= end);
    chip.classList.toggle("msw-now", fresh && place === end - 1);
  });
  const offsets = now && now[SURR] !== null && now[READ] !== null && !(now[ENDED] && !fresh);
  const place = (node, from, to) => {
    node.hidden = !offsets || to <= from;
    node.style.gridColumn = `${from + 1} / ${Math.max(to, from + 1) + 1}`;
  };
  glide(arms.filter((arm) => !arm.hidden), () => {
    place(arms[0], offsets ? now[SURR] : 0, offsets ? now[READ] : 0);
    place(arms[1], offsets ? now[READ] : 0, offsets ? end : 0);
  });
  if (end) {
    const chip = chips[end - 1];
    const left = chip.offsetLeft - (stage.clientWidth - chip.offsetWidth) / 2;
    stage.scrollTo({ left, behavior: still() ? "auto" : "smooth" });
  }
  told.replaceChildren();
  if (offsets) {
    const waiting = end - now[READ];
    told.append(el("span", "msw-key-surr", `surr_offset ${now[SURR]}`), " ", el("span", "msw-key-read", `read_offset ${now[READ]}`),
      " ", el("span", "msw-key-sent", `sent_offset ${now[SENT_AT] ?? "–"}`), waiting > 0 ? `  ${waiting} waiting` : "");
  }
  const before = steps.slice(0, at).map((step) => (step.rows[uid] ? pool[step.rows[uid][SENT]] : "")).join("");
  const sent = fresh ? pool[now[SENT]] : "";
  paper.replaceChildren();
  if (before || !sent) paper.append(visible(before));
  if (sent) paper.append(visible(sent, "msw-sent"));
}

function draw(at) {
  const now = steps[at], last = error && at === steps.length - 1;
  root.dataset.states = now.uids.join(" ");
  const count = now.uids.length, states = `${count} state${count === 1 ? "" : "s"}`;
  map.replaceChildren(el("code", "", `decode_map: {${now.uids.join(", ")}}`), ` ${states}`);
  columns.forEach((column, place) => column.classList.toggle("msw-now", place === at));
  rows.forEach((row) => drawRow(row, at));
  const parts = Object.entries(now.rows).map(([uid, row]) => `uid ${uid} ${said(pool[row[SENT]])}`);
  say.textContent = `Call ${at}: sent ${parts.join(", ") || "nothing"}. ${states} in decode_map.` +
    (last ? ` The next call failed: ${error.message}.` : "");
}
if (steps.length) go(0);
