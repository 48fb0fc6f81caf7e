// The timeline: lanes of ranks, drawn as far as they are in view.
const LEFT = 64, RIGHT = 14, TOP = 22, BAR = 11, ROW = 14, MANY = 2500;
const svgName = "http://www.w3.org/2000/svg";
const lanes = document.getElementById("lanes");

function make(name, attributes, parent, text) {
  const node = document.createElementNS(svgName, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.appendChild(node);
  return node;
}

const hasTime = history_.unit !== "";
const picture = { axis: hasTime ? "time" : "order", from: 0, to: 1, chosen: null, finding: null, places: [], matched: new Set(), rows: [], lane: [] };

const at = (moment) => (moment === null ? null : picture.axis === "time" ? moment.t : moment.order);
function extent() {
  if (picture.axis === "order") return [0, history_.records + 1];
  const last = Math.max(1, ...ranks.map((rank) => rank.last || 0));
  return [0, last + last / 100];
}
function endOf(span) {
  const end = at(span.end);
  if (end !== null) return end;
  const last = picture.axis === "time" ? ranks[span.rank].last : history_.records + 1;
  return Math.max(last === null ? 0 : last, at(span.issue));
}

// Rows within a lane: what is pending at once stands one below the other.
function pack() {
  picture.rows = [];
  const free = ranks.map(() => []);
  const most = ranks.map(() => 1);
  const shown = spans.filter((span) => at(span.issue) !== null);
  shown.sort((a, b) => at(a.issue) - at(b.issue));
  for (const span of shown) {
    const rows = free[span.rank];
    let row = rows.findIndex((end) => end <= at(span.issue));
    if (row < 0) row = rows.length < 12 ? rows.length : span.number % 12;
    rows[row] = endOf(span);
    span.row = row;
    most[span.rank] = Math.max(most[span.rank], row + 1);
  }
  let y = TOP;
  picture.lane = ranks.map((_, rank) => {
    const lane = { y, height: 26 + most[rank] * ROW };
    y += lane.height;
    return lane;
  });
  picture.height = y + 4;
  picture.shown = shown;
}

const wide = (text) => 6.6 * text.length; // of a label, about
const width = () => Math.max(300, lanes.clientWidth - 2);
const x = (v) => LEFT + ((v - picture.from) / (picture.to - picture.from)) * (width() - LEFT - RIGHT);
const inverse = (px) => picture.from + ((px - LEFT) / (width() - LEFT - RIGHT)) * (picture.to - picture.from);

function timeText(v, step) {
  if (picture.axis === "order") return String(Math.round(v));
  if (history_.unit === "ticks") return String(Math.round(v));
  const [scale, unit] = step >= 1e9 ? [1e9, "s"] : step >= 1e6 ? [1e6, "ms"] : step >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return Number((v / scale).toFixed(3)) + " " + unit;
}

function drawAxis(svg) {
  const span = picture.to - picture.from;
  let step = 10 ** Math.floor(Math.log10(span / 5));
  if (span / step > 10) step *= span / step > 25 ? 5 : 2;
  if (picture.axis === "order" || history_.unit === "ticks") step = Math.max(1, step);
  for (let v = Math.ceil(picture.from / step) * step; v <= picture.to; v += step) {
    make("line", { x1: x(v), x2: x(v), y1: TOP - 4, y2: picture.height, class: "tick" }, svg);
    const text = timeText(v, step);
    if (x(v) + 3 + wide(text) < width()) make("text", { x: x(v) + 3, y: 12 }, svg, text);
  }
}

function drawLane(svg, rank) {
  const lane = picture.lane[rank];
  make("rect", { x: 0, y: lane.y, width: width(), height: lane.height, class: "lane" + (rank % 2 ? " odd" : "") }, svg);
  make("text", { x: 8, y: lane.y + 16, class: "rank" }, svg, "rank " + rank);
  const first = picture.axis === "time" ? ranks[rank].first : 0, last = picture.axis === "time" ? ranks[rank].last : history_.records;
  if (first === null || picture.axis === "order") return;
  const a = Math.max(LEFT, x(first)), b = Math.min(width() - RIGHT, x(last));
  if (b > a) make("rect", { x: a, y: lane.y + 5, width: b - a, height: 3, class: "compute" }, svg);
}

function drawSpan(svg, span) {
  const lane = picture.lane[span.rank], y = lane.y + 12 + span.row * ROW, from = at(span.issue), to = endOf(span);
  const waited = span.sync ? from : at(span.wait);
  const split = waited === null ? to : Math.min(Math.max(waited, from), to);
  const left = Math.max(LEFT, x(from)), right = Math.min(width() - RIGHT, Math.max(x(to), x(from) + 2));
  const middle = Math.min(right, Math.max(left, x(split)));
  const state = stateOf(span);
  const g = make("g", { class: "span " + state + (span.end ? "" : " open"), "data-span": span.index }, svg);
  if (picture.chosen === span) g.classList.add("chosen");
  else if (picture.chosen && picture.chosen.kind === "span" && opName(picture.chosen) === opName(span)) g.classList.add("same");
  if (picture.matched.has(span)) g.classList.add("matched");
  if (middle > left || right - middle < 0.5) make("rect", { x: left, y, width: Math.max(1, middle - left), height: BAR, class: "pending" }, g);
  if (right > middle) make("rect", { x: middle, y, width: Math.max(1, right - middle), height: BAR, class: "blocked" }, g);
  if (right > middle && picture.axis === "time") make("rect", { x: middle, y: lane.y + 5, width: right - middle, height: 3, class: "blocked" }, g);
  make("title", {}, g, opName(span) + (span.step >= 0 ? ", step " + span.step : "") + ", rank " + span.rank + ": " + ends[span.ended] +
    (state === "wrong" ? "; something was found" : ""));
  // A label stands clear of the numbers of a finding's events.
  const name = opName(span), isPale = middle - left > wide(name) + 4, start = isPale ? left : middle;
  const numbered = picture.places.some((p) => p.it === span && Math.abs(x(at(p.it[p.when])) - start) < 9) ? 11 : 3;
  if ((isPale ? middle : right) - start > wide(name) + numbered && (isPale || state !== "wrong")) {
    make("text", { x: start + numbered, y: y + 9, "pointer-events": "none", class: isPale ? "on-pale" : "on-solid" }, g, name);
  }
}

const shapes = {
  read: "M-4,-4L4,-4L0,4Z", write: "M-4,4L4,4L0,-4Z", fault: "M-4,0L0,-5L4,0L0,5Z", fail: "M-4,-4L4,4M4,-4L-4,4",
  exit: "M-4,-4L4,4M4,-4L-4,4", abort: "M-4,-4L4,4M4,-4L-4,4", report: "M-4,-4H4V4H-4Z", drop: "M-4,0A4,4 0 1 0 4,0A4,4 0 1 0 -4,0",
};
function drawMark(svg, it, what) {
  if (it.rank < 0 || at(it.at) === null) return;
  const lane = picture.lane[it.rank], place = x(at(it.at));
  if (place < LEFT || place > width() - RIGHT) return;
  const kind = ["fail", "exit", "abort"].includes(what) ? " bad" : what === "fault" ? " fault" : "";
  const node = make("path", { d: shapes[what] || "M0,-4V4", transform: "translate(" + place + "," + (lane.y + lane.height - 8) + ")",
    class: "mark" + kind + (picture.chosen === it ? " chosen" : ""), ["data-" + it.kind]: it.index }, svg);
  make("title", {}, node, what + (it.group ? " of " + opName(it) : "") + ", rank " + it.rank);
}

// Too much for single bars: how much began, and how long was blocked, for each rank and piece of the axis.
function drawDensity(svg) {
  const bins = history_.bins[picture.axis], size = (bins.last - bins.first + 1) / bins.count;
  const most = Math.max(1, ...bins.began.map((row) => Math.max(...row)));
  for (let rank = 0; rank < ranks.length; rank++) {
    const lane = picture.lane[rank], base = lane.y + lane.height - 4, room = lane.height - 12;
    let began = "", blocked = "";
    for (let b = 0; b < bins.count; b++) {
      const a = x(bins.first + b * size), z = x(bins.first + (b + 1) * size);
      if (z < LEFT || a > width() - RIGHT || !bins.began[rank][b] && !(bins.blocked[rank] || [])[b]) continue;
      const left = Math.max(LEFT, a), w = Math.max(0.5, Math.min(z, width() - RIGHT) - left);
      began += "M" + left.toFixed(1) + "," + base + "h" + w.toFixed(1) + "v-" + ((bins.began[rank][b] / most) * room).toFixed(1) + "h-" + w.toFixed(1) + "Z";
      const share = ((bins.blocked[rank] || [])[b] || 0) / 100;
      if (share) blocked += "M" + left.toFixed(1) + "," + base + "h" + w.toFixed(1) + "v-" + Math.min(room, share * room).toFixed(1) + "h-" + w.toFixed(1) + "Z";
    }
    make("path", { d: began, class: "density" }, svg);
    make("path", { d: blocked, class: "density blocked" }, svg);
  }
}

// The events of the smallest set that shows a finding, numbered in the order of the story.
function drawWitnesses(svg) {
  const points = [];
  picture.finding.events.forEach((event, k) => {
    const place = placeOf(event);
    if (!place || at(place.it[place.when]) === null) return;
    const lane = picture.lane[place.it.rank];
    const y = place.it.kind === "span" ? lane.y + 17 + (place.it.row || 0) * ROW : lane.y + lane.height - 8;
    let px = x(at(place.it[place.when]));
    while (points.some((p) => Math.abs(p.x - px) < 12 && Math.abs(p.y - y) < 12)) px += 14;
    points.push({ x: px, y, number: k + 1 });
  });
  const inside = points.filter((p) => p.x >= LEFT - 1 && p.x <= width() - RIGHT + 1);
  // The thread bows, so that it does not hide the bar that it follows.
  const bow = (p, k) => k ? "Q" + (inside[k - 1].x + p.x) / 2 + "," + ((inside[k - 1].y + p.y) / 2 + (Math.abs(inside[k - 1].y - p.y) < 8 ? 22 : 0)) + " " + p.x + "," + p.y : "M" + p.x + "," + p.y;
  if (inside.length > 1) make("path", { d: inside.map(bow).join(""), class: "thread" }, svg);
  for (const p of inside) {
    const g = make("g", { class: "witness", "data-witness": p.number }, svg);
    make("circle", { cx: p.x, cy: p.y, r: 8 }, g);
    make("text", { x: p.x, y: p.y + 4 }, g, p.number);
  }
}

function draw() {
  lanes.textContent = "";
  picture.places = picture.finding ? picture.finding.events.map(placeOf).filter((p) => p && at(p.it[p.when]) !== null) : [];
  const svg = make("svg", { width: width(), height: picture.height, viewBox: "0 0 " + width() + " " + picture.height,
    role: "img", "aria-label": "what each rank did with each all-reduce" }, lanes);
  const defs = make("defs", {}, svg);
  const hatch = make("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, defs);
  make("rect", { width: 6, height: 6, style: "fill:var(--wrong)" }, hatch);
  make("rect", { width: 2, height: 6, style: "fill:var(--paper)" }, hatch);
  const pale = make("pattern", { id: "hatch-pale", width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, defs);
  make("rect", { width: 8, height: 8, style: "fill:var(--pending)" }, pale);
  make("rect", { width: 2, height: 8, style: "fill:var(--wrong)" }, pale);
  ranks.forEach((_, rank) => drawLane(svg, rank));
  drawAxis(svg);
  const seen = picture.shown.filter((span) => at(span.issue) <= picture.to && endOf(span) >= picture.from);
  const dense = !history_.is_all && picture.to - picture.from > (extent()[1] - extent()[0]) / 50 || seen.length > MANY;
  if (dense) drawDensity(svg);
  for (const span of dense ? seen.filter((s) => stateOf(s) === "wrong" || s === picture.chosen || picture.matched.has(s)).slice(0, MANY) : seen) drawSpan(svg, span);
  const rare = marks.filter((mark) => !dense || ["fault", "fail", "exit", "abort"].includes(mark.what));
  for (const mark of rare.slice(0, 2 * MANY)) drawMark(svg, mark, mark.what);
  if (!dense || reports.length < MANY) for (const report of reports) drawMark(svg, report, "report");
  if (picture.finding) drawWitnesses(svg);
  svg.dataset.dense = dense ? "yes" : "no";
}

function zoom(factor, middle) {
  const [least, most] = extent();
  const centre = middle === undefined ? (picture.from + picture.to) / 2 : middle;
  const smallest = picture.axis === "order" ? 4 : Math.max(1, (most - least) / 1e7);
  const size = Math.min(most - least, Math.max(smallest, (picture.to - picture.from) * factor));
  const share = (centre - picture.from) / (picture.to - picture.from);
  show(centre - share * size, centre + (1 - share) * size);
}
function show(from, to) {
  const [least, most] = extent(), size = Math.min(to - from, most - least);
  picture.from = Math.max(least, Math.min(from, most - size));
  picture.to = picture.from + size;
  draw();
}
