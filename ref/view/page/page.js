// Controls: findings, clicks, keys, search, themes.
const NOTES = 3; // of a kind that are listed
const FEW = 24; // records that are shown all at once
const by = (id) => document.getElementById(id);
const counted = (count, noun) => count + " " + noun + (count === 1 ? "" : "s");

function head() {
  const signs = { PASS: "✓", FAIL: "✗", UNKNOWN: "?" };
  by("verdict").textContent = signs[verdict.verdict] + " " + verdict.verdict;
  by("verdict").className = "verdict " + verdict.verdict;
  by("name").textContent = verdict.path;
  document.title = verdict.verdict + " " + verdict.path + " - alar";
  by("reason").textContent = verdict.reason;
  by("facts").textContent = counted(ranks.length, "rank") + ", " + counted(history_.records, "record") + ", " + counted(verdict.operations, "all-reduce") + ", " +
    verdict.judged + " judged, " + counted(verdict.reports, "log line") + (history_.is_all ? "" : "; long: a summary, with every all-reduce around what was found and at both ends") +
    (hasTime ? "" : "; no times were recorded, so the order of records stands for time") +
    (hasTime && ranks.some((rank) => !rank.shares) ? "; the ranks share no clock, so each begins with 0" : "");
}

function legend() {
  const items = [["compute", "the rank goes on"], ["pending", "an all-reduce pending"], ["blocked", "waiting for it"]];
  for (const [name, text] of items) {
    const item = tell(by("legend"), "span");
    const svg = make("svg", { width: 22, height: 13 }, item);
    make("rect", { x: 0, y: name === "compute" ? 5 : 1, width: 20, height: name === "compute" ? 3 : 11, class: name }, svg);
    item.append(text);
  }
  const wrong = tell(by("legend"), "span");
  const svg = make("svg", { width: 22, height: 13 }, wrong);
  const g = make("g", { class: "span wrong" }, svg);
  make("rect", { x: 1, y: 1, width: 19, height: 11, class: "blocked" }, g);
  wrong.append("something was found");
  const unsure = tell(by("legend"), "span");
  make("rect", { x: 1, y: 1, width: 19, height: 11, class: "pending" }, make("g", { class: "span unsure" }, make("svg", { width: 22, height: 13 }, unsure)));
  unsure.append("no end, or no result");
  for (const [name, text] of [["read", "read"], ["write", "write"], ["report", "log line"], ["fail", "failure"], ["fault", "injected fault"]]) {
    const item = tell(by("legend"), "span");
    make("path", { d: shapes[name], transform: "translate(7,7)", class: "mark" + (name === "fail" ? " bad" : name === "fault" ? " fault" : "") },
      make("svg", { width: 15, height: 14 }, item));
    item.append(text);
  }
}

function sidebar() {
  const nav = by("findings");
  const add = (title, items, className) => {
    if (!items.length) return;
    tell(nav, "h2", title);
    for (const item of items) nav.appendChild(item);
  };
  const button = (finding, index) => {
    const it = document.createElement("button");
    it.className = "finding " + finding.is;
    it.dataset.finding = index;
    tell(it, "b", finding.anomaly);
    tell(it, "span", [finding.group !== undefined ? finding.group + "/" + finding.op : finding.metric, finding.step !== undefined && "step " + finding.step,
      finding.ranks.length && (finding.ranks.length > 1 ? "ranks " : "rank ") + finding.ranks.join(", ")].filter(Boolean).join(", "));
    tell(it, "small", finding.sentence);
    if (finding.excused_by) tell(it, "small", "excused by " + finding.excused_by);
    it.addEventListener("click", () => chooseFinding(index));
    return it;
  };
  const buttons = findings.map(button);
  add("findings, worst first", buttons.filter((_, k) => findings[k].is !== "note"));
  if (verdict.findings_more) tell(nav, "p", verdict.findings_more + " more were counted and not kept");
  const kept = {}, notes = buttons.filter((_, k) => findings[k].is === "note" && (kept[findings[k].anomaly] = (kept[findings[k].anomaly] || 0) + 1) <= NOTES);
  for (const kind in kept) {
    if (kept[kind] <= NOTES) continue;
    notes.push(document.createElement("p"));
    notes[notes.length - 1].textContent = kind + ": " + (kept[kind] - NOTES) + " notes more";
  }
  add("notes", notes);
  add("unknown", verdict.unknown.map((unknown) => {
    const it = document.createElement("div");
    it.className = "finding unsure";
    tell(it, "span", unknown.reason + (unknown.times > 1 ? " (" + unknown.times + " times)" : "") + (unknown.rank !== undefined ? ": rank " + unknown.rank : ""));
    if (unknown.file) tell(it, "small", unknown.file + ":" + unknown.line);
    return it;
  }));
  if (!findings.length && !verdict.unknown.length) tell(nav, "p", "nothing was found");
}

// ---- choosing ----
function choose(it) {
  picture.chosen = it;
  picture.finding = null;
  markCurrent();
  if (it.kind === "span") spanStory(it);
  else if (it.kind === "report") reportStory(it);
  else markStory(it);
  const from = at(it.kind === "span" ? it.issue : it.at), to = it.kind === "span" ? endOf(it) : from;
  if (from !== null && (to < picture.from || from > picture.to)) {
    const size = picture.to - picture.from;
    show((from + to) / 2 - size / 2, (from + to) / 2 + size / 2);
  } else draw();
  scrollToRank(it.rank);
}
function scrollToRank(rank) {
  const lane = picture.lane[rank];
  if (lane && (lane.y < lanes.scrollTop || lane.y + lane.height > lanes.scrollTop + lanes.clientHeight)) lanes.scrollTop = lane.y - 30;
}
function markCurrent() {
  for (const node of document.querySelectorAll("[data-finding]")) {
    node.setAttribute("aria-current", picture.finding && findings[node.dataset.finding] === picture.finding ? "true" : "false");
  }
}
function chooseFinding(index) {
  const finding = findings[index];
  picture.finding = finding;
  picture.chosen = null;
  markCurrent();
  storyOf(finding);
  const places = finding.events.map(placeOf).filter((p) => p && at(p.it[p.when]) !== null);
  if (!places.length) return draw();
  if (history_.records <= FEW) {
    show(...extent());
    return scrollToRank(places[places.length - 1].it.rank);
  }
  const points = places.map((p) => at(p.it[p.when]));
  const least = Math.min(...points), most = Math.max(...points), margin = Math.max((most - least) * 0.35, (extent()[1] - extent()[0]) / (history_.is_all ? 12 : 4000));
  show(least - margin, most + margin);
  scrollToRank(places[places.length - 1].it.rank);
}

// ---- searching ----
function search(text) {
  picture.matched = new Set();
  by("found").textContent = "";
  const words = text.trim().toLowerCase();
  if (!words) return draw();
  const step = /^step[ :=]*(\d+)$/.exec(words), rank = /^rank[ :=]*(\d+)$/.exec(words), number = /^\d+$/.test(words);
  const matches = (span) => (step ? span.step === Number(step[1]) : rank ? span.rank === Number(rank[1]) : number ? span.number === Number(words)
    : opName(span).toLowerCase() === words || [span.key, span.site].some((n) => n && names[n].toLowerCase().includes(words)) ||
      (words.length > 2 && !/\/\d+$/.test(words) && opName(span).toLowerCase().includes(words)));
  for (const span of spans) if (matches(span)) picture.matched.add(span);
  by("found").textContent = picture.matched.size + " found" + (history_.is_all ? "" : " among those shown one by one");
  const all = [...picture.matched].filter((span) => at(span.issue) !== null);
  if (all.length && !rank) {
    const least = Math.min(...all.map((s) => at(s.issue))), most = Math.max(...all.map(endOf));
    const margin = Math.max((most - least) * 0.3, 2);
    show(least - margin, most + margin);
  } else draw();
  if (all.length) scrollToRank(all[0].rank);
  return all[0];
}

// ---- moving ----
function step(direction) {
  const chosen = picture.chosen && picture.chosen.kind === "span" ? picture.chosen : null;
  const rank = chosen ? chosen.rank : picture.finding && picture.finding.ranks.length ? picture.finding.ranks[0] : 0;
  const row = picture.shown.filter((s) => s.rank === rank);
  if (!row.length) return;
  const here = chosen ? row.indexOf(chosen) : direction > 0 ? -1 : row.length;
  choose(row[Math.min(row.length - 1, Math.max(0, here + direction))]);
}
function across(direction) {
  const chosen = picture.chosen && picture.chosen.kind === "span" ? picture.chosen : null;
  if (!chosen) return step(1);
  const all = byOp.get(opName(chosen)).filter((s) => (direction > 0 ? s.rank > chosen.rank : s.rank < chosen.rank));
  all.sort((a, b) => (a.rank - b.rank) * direction);
  if (all.length) choose(all[0]);
}
function nextFinding(direction) {
  if (!findings.length) return;
  const here = picture.finding ? findings.indexOf(picture.finding) : direction > 0 ? -1 : findings.length;
  chooseFinding((here + direction + findings.length) % findings.length);
}
function setAxis(axis) {
  picture.axis = axis;
  by("axis").value = axis;
  pack();
  [picture.from, picture.to] = extent();
  draw();
}

// ---- themes: what the system says, until somebody chooses ----
const dark = window.matchMedia("(prefers-color-scheme: dark)");
let theme = "system";
function setTheme(name) {
  theme = name;
  document.documentElement.dataset.theme = name === "system" ? (dark.matches ? "dark" : "light") : name;
  by("theme").textContent = "theme: " + name;
}
const nextTheme = () => setTheme({ system: "light", light: "dark", dark: "system" }[theme]);
dark.addEventListener("change", () => setTheme(theme));

const keys = {
  "+": ["zoom in", () => zoom(0.5)], "-": ["zoom out", () => zoom(2)], "0": ["show all", () => show(...extent())],
  "ArrowRight": ["next all-reduce of the rank", () => step(1)], "ArrowLeft": ["the one before", () => step(-1)],
  "ArrowDown": ["the same one on the next rank", () => across(1)], "ArrowUp": ["on the rank before", () => across(-1)],
  "n": ["next finding", () => nextFinding(1)], "p": ["finding before", () => nextFinding(-1)], "/": ["search", () => by("search").focus()],
  "a": ["time, or order of records", () => hasTime && setAxis(picture.axis === "time" ? "order" : "time")],
  "t": ["theme", nextTheme], "?": ["these keys", () => showKeys()],
};
function showKeys() {
  by("keys").hidden = !by("keys").hidden;
  by("help").setAttribute("aria-expanded", String(!by("keys").hidden));
}
function start() {
  const [mode] = (location.hash.match(/theme=(\w+)/) || []).slice(1);
  setTheme(["light", "dark"].includes(mode) ? mode : "system");
  head();
  legend();
  sidebar();
  for (const key in keys) {
    tell(by("keys"), "kbd", key);
    by("keys").append(" " + keys[key][0] + "   ");
  }
  if (!hasTime) by("axis").options[0].disabled = true;
  setAxis(picture.axis);
  by("axis").addEventListener("change", () => setAxis(by("axis").value));
  by("in").addEventListener("click", () => zoom(0.5));
  by("out").addEventListener("click", () => zoom(2));
  by("fit").addEventListener("click", () => show(...extent()));
  by("theme").addEventListener("click", nextTheme);
  by("help").addEventListener("click", showKeys);
  by("search").addEventListener("input", () => search(by("search").value));
  by("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") { const first = search(by("search").value); if (first) choose(first); }
    if (event.key === "Escape") { by("search").value = ""; search(""); lanes.focus(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = keys[event.key === "=" ? "+" : event.key];
    if (key) { event.preventDefault(); key[1](); }
  });
  lanes.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && Math.abs(event.deltaY) > Math.abs(event.deltaX) && lanes.scrollHeight > lanes.clientHeight && !event.shiftKey) return;
    event.preventDefault();
    const px = event.clientX - lanes.getBoundingClientRect().left;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by_ = ((event.deltaX || event.deltaY) / width()) * (picture.to - picture.from);
      show(picture.from + by_, picture.to + by_);
    } else zoom(event.deltaY > 0 ? 1.25 : 0.8, inverse(px));
  }, { passive: false });
  let drag = null;
  lanes.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, from: picture.from, to: picture.to, moved: false }; });
  window.addEventListener("pointermove", (event) => {
    if (!drag || Math.abs(event.clientX - drag.x) < 4 && !drag.moved) return;
    drag.moved = true;
    const move = ((drag.x - event.clientX) / (width() - LEFT - RIGHT)) * (drag.to - drag.from);
    show(drag.from + move, drag.to + move);
  });
  window.addEventListener("pointerup", () => { setTimeout(() => { drag = null; }, 0); });
  lanes.addEventListener("click", (event) => {
    if (drag && drag.moved) return;
    const node = event.target.closest("[data-span],[data-mark],[data-report]");
    if (!node) return;
    const set = node.dataset;
    choose(set.span !== undefined ? spans[set.span] : set.mark !== undefined ? marks[set.mark] : reports[set.report]);
  });
  window.addEventListener("resize", draw);
  window.addEventListener("beforeprint", () => show(picture.from, picture.to));
  if (findings.length) chooseFinding(0);
  document.documentElement.dataset.ready = "yes";
}
start();
