// One reply: tokens over an axis, the offsets, both decodes, and what was sent.
const { tokens, steps, pool, kind, against, part, predict, error } = data;
const [PHASE, TOKEN, SURR, READ, SENT_AT, SURR_TEXT, READ_TEXT, SENT, PENDING, ENDED] = [...Array(10).keys()];
const windows = kind === "windows";
const answers = new Map(); // step → what the reader wrote
const right = (step) => answers.get(step) === pool[steps[step + 1][SENT]];
const asks = (step) => predict && steps[step][PHASE] === "arrives" && !answers.has(step) && step + 1 in steps;

// The stage.
const stage = el("div", "msw-stage");
Object.assign(stage, { tabIndex: 0, role: "region", ariaLabel: "Tokens and offsets" });
const grid = el("div", "msw-grid");
grid.classList.toggle("msw-plain", !windows);
grid.style.gridTemplateColumns = `repeat(${tokens.length}, auto) minmax(150px, 1fr)`;
const chips = tokens.map(([id, hex, alone], place) => {
  const chip = el("div", "msw-chip", el("span", "msw-place", String(place)), visible(alone, "msw-alone"));
  chip.append(el("span", "msw-id", String(id)));
  if (hex !== null) chip.append(el("span", "msw-hex", hex));
  chip.style.gridColumn = place + 1;
  grid.append(chip);
  return chip;
});
const flag = (name) => {
  const node = el("div", "msw-flag msw-flag-" + name);
  grid.append(node);
  return node;
};
const bracket = (name) => {
  const node = el("div", "msw-bracket msw-bracket-" + name, el("span", "msw-arm"), el("span", "msw-name"));
  grid.append(node);
  return node;
};
const movers = windows ? [flag("surr"), flag("read"), bracket("surr"), bracket("read")] : [];
stage.append(grid);

// What is told below it.
const facts = el("div", "msw-facts");
const reader = el("div", "msw-reader");
const say = el("p", "msw-say");
say.setAttribute("aria-live", "polite");
const row = (name, label, ...kids) => {
  facts.append(el("div", "msw-key " + (name && "msw-key-" + name), label), el("div", "msw-value", ...kids));
};

// The question, in predict mode.
const field = el("input", "msw-field");
Object.assign(field, { type: "text", autocomplete: "off", spellcheck: false });
const score = el("span", "msw-score");
const verdict = el("span", "msw-verdict");
const form = el("div", "msw-ask",
  el("label", "msw-label", "What will be sent now? Leave it empty for nothing. ", field),
  button("Check", () => forward()), verdict, score);
field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  forward();
});

const jump = part === null ? null : button("⇥ Where the runs part", () => (pause(), go(part)));
const { body, go, forward, pause } = stepper({
  count: steps.length, draw, title: data.title, extra: jump ? [jump] : [],
  mayLeave: (step, playing) => {
    if (!asks(step)) return true;
    if (playing) return field.focus(), false;
    answers.set(step, field.value);
    field.value = "";
    return true;
  },
});
body.append(say, stage, facts);
if (predict) body.append(form);
body.append(reader);
if (data.left) body.append(el("p", "msw-label", `The first ${tokens.length} of ${tokens.length + data.left} tokens.`));

function drawStage(now) {
  const [, token, surr, read] = now, end = token + 1;
  chips.forEach((chip, place) => {
    chip.classList.toggle("msw-coming", place > token);
    chip.classList.toggle("msw-now", place === token);
    chip.classList.toggle("msw-done", windows && place < read);
    chip.ariaHidden = place > token ? "true" : null;
  });
  if (windows) {
    const [surrFlag, readFlag, surrArm, readArm] = movers;
    surrFlag.textContent = `◆ surr_offset ${surr}`;
    readFlag.textContent = `▼ read_offset ${read}`;
    const place = (node, from, to) => {
      node.style.gridColumn = `${from + 1} / ${Math.max(to, from + 1) + 1}`;
      node.classList.toggle("msw-none", to <= from);
    };
    glide(movers, () => {
      surrFlag.style.gridColumn = Math.min(surr, tokens.length) + 1;
      readFlag.style.gridColumn = Math.min(read, tokens.length) + 1;
      place(surrArm, surr, read);
      place(readArm, surr, end);
    });
    surrArm.lastChild.textContent = `ids[${surr}:${read}]`;
    readArm.lastChild.textContent = `ids[${surr}:${end}]`;
  }
  const chip = chips[token];
  const left = chip.offsetLeft - (stage.clientWidth - chip.offsetWidth) / 2;
  stage.scrollTo({ left, behavior: still() ? "auto" : "smooth" });
}

function drawDecodes(now) {
  const [surrText, readText] = [pool[now[SURR_TEXT]], pool[now[READ_TEXT]]];
  const long = [...surrText].length, chars = [...readText];
  const shared = chars.slice(0, long).join(""), fresh = chars.slice(long).join("");
  row("surr", `decode(ids[${now[SURR]}:${now[READ]}])`, visible(surrText, surrText && "msw-shared"));
  const both = shared ? [visible(shared, "msw-shared")] : [];
  if (fresh || !shared) both.push(visible(fresh, fresh && "msw-fresh"));
  row("read", `decode(ids[${now[SURR]}:${now[TOKEN] + 1}])`, ...both);
  row("", "new text", visible(fresh, fresh && "msw-fresh"));
  if (shared !== surrText) row("", "but", "the two decodes begin differently");
}

function drawOutcome(now, at) {
  const sent = pool[now[SENT]];
  if (now[PHASE] === "failed") {
    row("bad", "failed", el("span", "msw-error", error.message), error.line ? el("code", "", error.line) : "");
  } else if (now[PHASE] === "arrives") row("", "sent now", "not decided yet");
  else row("", "sent now", visible(sent, sent && "msw-sent"));
  if (kind !== "calls") {
    const held = now[PENDING];
    const none = held === "" || held === 0;
    row("", "waiting", none ? "nothing" : kind === "bytes" ? el("code", "", held) : `${held} token${held > 1 ? "s" : ""}`);
  }
  if (!against) return;
  const its = against.tokens[now[TOKEN]];
  const same = its && now[PHASE] === "committed" && its[SENT] !== null && pool[its[SENT]] === sent;
  const told = !its ? "has no step here" : its[SENT] === null ? "failed here" : visible(pool[its[SENT]], "msw-sent");
  if (now[PHASE] === "arrives") return row("", against.name, "sends with the next step");
  row(same ? "" : "bad", against.name, same ? "= the same: " : "≠ sent: ", told);
}

function drawReader(at) {
  const before = [], now = steps[at];
  for (const step of steps.slice(0, at + (now[PHASE] === "arrives" ? 1 : 0))) before.push(pool[step[SENT]]);
  const fresh = now[PHASE] === "committed" ? pool[now[SENT]] : "";
  const old = before.join(""), kept = [...old];
  root.dataset.output = old + fresh;
  const text = kept.length > 500 ? "… " + kept.slice(-500).join("") : old;
  const shown = el("div", "msw-paper");
  if (text) shown.append(visible(text));
  if (fresh) shown.append(visible(fresh, "msw-sent"));
  if (!old && !fresh) shown.append(visible(""));
  shown.append(el("span", "msw-caret", `▲ sent_offset ${now[SENT_AT]}`));
  reader.replaceChildren(el("div", "msw-key", "the reader sees"), shown);
}

function drawQuestion(at) {
  const open = asks(at), told = answers.has(at - 1) && steps[at][PHASE] !== "arrives";
  form.classList.toggle("msw-open", open);
  verdict.className = "msw-verdict";
  verdict.replaceChildren();
  if (told) {
    const good = right(at - 1);
    verdict.classList.add(good ? "msw-good" : "msw-wrong");
    verdict.append(good ? "✓ Right: " : "✗ You wrote ", visible(answers.get(at - 1)));
    if (!good) verdict.append(", sent was ", visible(pool[steps[at][SENT]]));
  }
  const count = [...answers.keys()].filter(right).length;
  score.textContent = `Score: ${count} of ${answers.size}`;
  root.dataset.score = `${count}/${answers.size}`;
}

function draw(at) {
  const now = steps[at], [id, , alone] = tokens[now[TOKEN]];
  Object.assign(root.dataset, {
    phase: now[PHASE], token: now[TOKEN], surrOffset: now[SURR], readOffset: now[READ],
    sentOffset: now[SENT_AT], sent: pool[now[SENT]],
    surrText: pool[now[SURR_TEXT]], readText: pool[now[READ_TEXT]],
  });
  drawStage(now);
  facts.replaceChildren();
  const hidden = asks(at);
  if (windows && !hidden) drawDecodes(now);
  drawOutcome(now, at);
  drawReader(at);
  if (predict) drawQuestion(at);
  const offsets = windows ? ` surr_offset ${now[SURR]}, read_offset ${now[READ]}, sent_offset ${now[SENT_AT]}.` : "";
  const what = now[PHASE] === "arrives" ? "arrives." : now[PHASE] === "failed" ? "failed: " + error.message + "."
    : `is done: sent ${said(pool[now[SENT]])}.`;
  const gone = now[ENDED] ? " The request has ended, its state is gone." : "";
  say.textContent = `Token ${now[TOKEN]}, id ${id}, ${said(alone)}, ${what}${hidden ? "" : offsets}${gone}`;
}
if (steps.length) go(0);
