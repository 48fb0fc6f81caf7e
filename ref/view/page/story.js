// The words below the timeline: what was found, and what a chosen event is.
const detail = document.getElementById("detail");

function tell(parent, name, text, className) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  parent.appendChild(node);
  return node;
}
function table(heads, rows, className) {
  const it = tell(tell(detail, "div", undefined, "wide"), "table", undefined, className || "");
  const columns = Math.max(...(heads ? [heads] : []).concat(rows).map((cells) => cells.length));
  if (heads) {
    const row = tell(it, "tr");
    for (const head of heads) tell(row, "th", head);
  }
  for (const cells of rows) {
    const row = tell(it, "tr");
    for (const cell of cells) {
      const td = tell(row, "td");
      td.textContent = cell === undefined || cell === null ? "" : cell;
    }
    row.lastChild.colSpan = Math.max(1, columns - cells.length + 1);
  }
  return it;
}
const list = (items) => (items.length ? items.join(", ") : "none");

// Where an event was recorded, by its name beside the others.
function placeText(event) {
  const file = event.file || "", inside = verdict.path + "/";
  const name = file.startsWith(inside) ? file.slice(inside.length) : file.slice(file.lastIndexOf("/") + 1);
  return name + (event.line ? ":" + event.line : "") + (event.src ? ", called from " + event.src : "");
}

// Where the value lies beside what any order could have given.
function rangePicture(dtype, found, low, high) {
  const [a, b, v] = [low, high, found].map((hex) => Number(fromBits(dtype, hex)));
  if (![a, b, v].every(Number.isFinite)) return;
  const box = make("svg", { class: "range", width: 560, height: 66, role: "img", "aria-label": "legal range and value" }, detail);
  const least = Math.min(a, v), most = Math.max(b, v), room = (most - least) || Math.abs(a) || 1;
  const px = (q) => 40 + ((q - least + room * 0.15) / (room * 1.3)) * 480;
  make("line", { x1: 20, x2: 540, y1: 30, y2: 30, style: "stroke:var(--line)" }, box);
  make("rect", { x: px(a), y: 22, width: Math.max(3, px(b) - px(a)), height: 16, style: "fill:var(--blocked)" }, box);
  make("path", { d: "M" + px(v) + ",16l-6,-11h12Z", style: "fill:" + (v < a || v > b ? "var(--wrong)" : "var(--good)") }, box);
  const put = (q, y, text) => make("text", { x: Math.min(558 - wide(text) / 2, Math.max(wide(text) / 2, px(q))), y, "text-anchor": "middle" }, box, text);
  put(a === b ? a : a + (b - a) / 2, 56, a === b ? "legal: " + decimal(dtype, low) : "legal: " + decimal(dtype, low) + " to " + decimal(dtype, high));
  put(v + (wide("found: " + decimal(dtype, found)) / 2 + 10) / 480 * room * 1.3, 13, "found: " + decimal(dtype, found));
}

function storyOf(finding) {
  detail.textContent = "";
  tell(detail, "h2", finding.says);
  const rows = [["rule", finding.rule + ": " + finding.sentence]];
  const at = new Map();
  finding.events.forEach((event, k) => {
    const head = k === 0 ? "Let" : k + 1 === finding.events.length ? "However," : "Then";
    at.set(rows.length, event);
    rows.push([(k + 1) + "  " + head, event.says, placeText(event)]);
  });
  if (finding.last_good !== undefined) rows.push(["last good", finding.group + "/" + finding.last_good + " was judged good"]);
  rows.push(["allowed", finding.allowed]);
  if (finding.joined.length || finding.missing.length) {
    rows.push(["ranks", "joined {" + list(finding.joined) + "}" + (finding.missing.length ? ", missing {" + list(finding.missing) + "}" : "")]);
  }
  if (finding.found !== undefined) rows.push(["found", (finding.element !== undefined ? "element " + finding.element + ": " : "") + value(finding.dtype, finding.found)]);
  if (finding.lowest !== undefined) {
    rows.push(["legal", value(finding.dtype, finding.lowest) + (finding.highest === finding.lowest ? "" : " to " + value(finding.dtype, finding.highest))]);
  }
  if (finding.diagnosis) {
    rows.push(["reads as", finding.diagnosis.explanations.map((why) => why.says).join(", or ") + (finding.diagnosis.unique ? ", the only explanation of its kind" : "")]);
  }
  if (finding.excused_by) rows.push(["excused by", "the fault " + finding.excused_by + ", injected on purpose"]);
  const it = table(null, rows, "story");
  for (const [row, event] of at) {
    const place = placeOf(event);
    if (!place) continue;
    it.rows[row].classList.add("event");
    it.rows[row].addEventListener("click", () => choose(place.it));
  }
  if (finding.found !== undefined && finding.lowest !== undefined) rangePicture(finding.dtype, finding.found, finding.lowest, finding.highest);
  const place = finding.events.map(placeOf).find((p) => p && p.it.kind !== "mark");
  if (place && place.it.kind === "span") contributions(place.it, finding.element || 0);
  if (place && place.it.kind === "report") reportTable(place.it);
}

const when = (moment) => (moment === null ? "not recorded" : (moment.t === null ? "" : moment.t + " " + history_.unit + ", ") + "record " + moment.order +
  ", " + history_.files[moment.file] + ":" + moment.line);

// What every rank put in and got out, element by element.
function contributions(span, element) {
  const all = (byOp.get(opName(span)) || []).slice().sort((a, b) => a.rank - b.rank);
  const elements = [element, element + 1].filter((e) => all.some((s) => s.in.length > e || s.out.length > e));
  const members = [...membersOf.get(span.group)].sort((a, b) => a - b);
  const missing = members.filter((rank) => !all.some((s) => s.rank === rank));
  tell(detail, "h2", opName(span) + ", all ranks");
  const heads = ["rank", "ended"];
  for (const e of elements) heads.push("in[" + e + "]", "out[" + e + "]");
  table(heads, all.map((s) => {
    const cells = ["rank " + s.rank, ends[s.ended]];
    for (const e of elements) cells.push(s.in[e] ? value(s.dtype, s.in[e]) : "", s.out[e] ? value(s.dtype, s.out[e]) : "");
    return cells;
  }));
  if (missing.length) tell(detail, "p", "never issued by: rank " + missing.join(", "), "bad");
  for (const legal of legalOf.get(opName(span)) || []) {
    const range = legal.low ? "; any order gives " + value(span.dtype, legal.low) + (legal.low === legal.high ? "" : " to " + value(span.dtype, legal.high)) : "";
    tell(detail, "p", "element " + legal.element + " is legal: " + legal.proof + (legal.tree ? ", tree " + legal.tree : "") + range);
    if (legal.low && legal.low !== legal.high) rangePicture(span.dtype, legal.bits, legal.low, legal.high);
  }
}

function spanStory(span) {
  detail.textContent = "";
  tell(detail, "h2", opName(span) + " on rank " + span.rank);
  const rows = [["what", reds[span.red] + " of " + span.n + " " + span.dtype + (span.sync ? ", a blocking call" : ", non-blocking") +
    (span.polls ? ", polled " + span.polls + " times" : "")]];
  if (span.key) rows.push(["metric", names[span.key]]);
  if (span.step >= 0) rows.push(["step", span.step + (span.mb >= 0 ? ", microbatch " + span.mb : "")]);
  if (span.site) rows.push(["called from", names[span.site]]);
  for (const name of ["issue", "wait", "complete", "end"]) rows.push([name, when(span[name])]);
  if (span.end && span.end.t !== null && span.issue.t !== null) {
    const from = span.sync ? span.issue : span.wait;
    rows.push(["blocked", from && from.t !== null ? Math.max(0, span.end.t - from.t) + " " + history_.unit : "not known"]);
  }
  table(null, rows, "story");
  contributions(span, 0);
}

function markStory(mark) {
  detail.textContent = "";
  tell(detail, "h2", mark.what + (mark.group ? " of " + opName(mark) : "") + " on rank " + mark.rank + (mark.backend ? ", by the back end" : ""));
  const rows = [["when", when(mark.at)]];
  if (mark.text) rows.push(["what", names[mark.text]]);
  if (mark.bits.length) rows.push(["values", mark.bits.slice(0, 8).map((hex) => value(mark.dtype, hex)).join(", ")]);
  table(null, rows, "story");
  const span = (byOp.get(opName(mark)) || []).find((s) => s.rank === mark.rank);
  if (mark.group && span) contributions(span, 0);
}

// A logged value: what each operation held for it, the denominator, and what was shown.
function reportTable(report) {
  const ops = [];
  for (let k = 0; k < report.ops.length; k += 2) ops.push(names[report.ops[k]] + "/" + report.ops[k + 1]);
  if (!ops.length) {
    for (const [name, all] of byOp) {
      if (all.some((s) => s.rank === report.rank && s.step >= report.first && s.step <= report.step && (!s.key || names[s.key].split(",").includes(names[report.metric])))) ops.push(name);
    }
  }
  tell(detail, "h2", "contributions");
  let numerator = 0, weight = 0, isPlain = true;
  const rows = ops.slice(0, 200).map((name) => {
    const all = (byOp.get(name) || []).slice().sort((a, b) => a.rank - b.rank);
    const own = all.find((s) => s.rank === report.rank) || all[0];
    const out = own ? own.out : [];
    isPlain = isPlain && !!own && own.pairs > 0 && own.dtype !== "i64" && out.length >= 2;
    for (let p = 0; isPlain && p < own.pairs && 2 * p + 1 < out.length && own.key && !names[own.key].includes(","); p++) {
      numerator += Number(fromBits(own.dtype, out[2 * p]));
      weight += Number(fromBits(own.dtype, out[2 * p + 1]));
    }
    return [name, own && own.step >= 0 ? own.step : "", all.map((s) => "rank " + s.rank + ": " + s.in.slice(0, s.pairs ? 2 : 1).map((hex) => decimal(s.dtype, hex)).join(" / ")).join("; "),
      out.slice(0, own && own.pairs ? 2 : 1).map((hex) => value(own.dtype, hex)).join(" / ")];
  });
  table(["operation", "step", "put in (numerator / weight)", "got out"], rows);
  if (ops.length > 200) tell(detail, "p", ops.length - 200 + " operations more");
  const shown = report.bits ? value(report.bits.length === 16 ? "f64" : "f32", report.bits) : report.loss;
  const result = [["shown", shown], ["denominator", report.tokens >= 0 ? report.tokens + " tokens by the log line" : "not said"]];
  if (isPlain && weight) result.push(["sums", numerator + " / " + weight + " = " + numerator / weight + " (pooled, in double)"]);
  table(null, result, "story");
}

function reportStory(report) {
  detail.textContent = "";
  tell(detail, "h2", names[report.metric] + " of step " + (report.first < report.step ? report.first + " to " : "") + report.step + ", logged by rank " + report.rank);
  table(null, [["shown", report.loss], ["normalization", (names[report.normalization] || "not declared") + (report.over ? " over " + names[report.over] : "")],
    ["when", when(report.at)]], "story");
  reportTable(report);
}
