const piece = el("p", "msw-piece"), reply = el("div", "msw-reply"), told = el("p", "msw-said");
told.setAttribute("aria-live", "polite");
const part = (text, name, label) => {
  if (!text) return "";
  const node = visible(text, name);
  if (label) node.prepend(el("span", "msw-legend", label + " "));
  return node;
};
const draw = (step) => {
  const [came, shown, held, cut, said_] = data.rows[step];
  piece.replaceChildren(came ? "comes: " : "no more text comes", came ? visible(came) : "");
  reply.replaceChildren(
    part(shown, "msw-shown"), " ", part(held, "msw-held", "held:"), " ", part(cut, "msw-cut", "cut:"));
  told.textContent = `${said_}. Shown: ${said(shown)}. Held back: ${said(held)}.`;
};
const player = stepper({ count: data.rows.length, draw, title: data.title });
player.body.append(piece, reply, told);
player.go(0);
