// What was recorded, with names for its columns, and bits as numbers.
const data = JSON.parse(document.getElementById("data").textContent);
const verdict = data.verdict, history_ = data.history;

// The columns of put_span, put_mark, put_report and put_moment in view.c.
const columns = {
  span: "rank group number step mb key site red dtype n pairs sync ended polls issue wait complete end in out".split(" "),
  mark: "kind rank group number text backend dtype at bits".split(" "),
  report: "rank metric normalization over step first loss bits tokens at ops".split(" "),
};
const moments = new Set(["issue", "wait", "complete", "end", "at"]);
const reds = ["sum", "max", "min", "product", "avg"];
const ends = ["not ended", "done", "failed", "dropped"];

function record(kind, row, index) {
  const it = { kind: kind, index: index };
  let at = 0;
  for (const name of columns[kind]) {
    if (moments.has(name)) {
      it[name] = row[at] ? { order: row[at], t: row[at + 1], file: row[at + 2], line: row[at + 3] } : null;
      at += 4;
    } else if (name === "kind") {
      it.what = row[at++];
    } else {
      it[name] = row[at++];
    }
  }
  return it;
}
const spans = history_.spans.map((row, k) => record("span", row, k));
const marks = history_.marks.map((row, k) => record("mark", row, k));
const reports = history_.reports.map((row, k) => record("report", row, k));
const ranks = history_.ranks.map(([first, last, records, ended, shares]) => ({ first, last, records, ended, shares }));
const names = history_.names;
const opName = (it) => (it.group ? names[it.group] + "/" + it.number : "");

// ---- bits as numbers ----
const bytes = new DataView(new ArrayBuffer(8));
function f16(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, rest = bits & 1023;
  if (exponent === 31) return rest ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + rest / 1024) * 2 ** (exponent - 15) : rest * 2 ** -24);
}
function fromBits(dtype, hex) {
  const bits = BigInt("0x" + hex);
  switch (dtype) {
    case "f16": return f16(Number(bits));
    case "bf16": bytes.setUint32(0, Number(bits) * 65536); return bytes.getFloat32(0);
    case "f32": bytes.setUint32(0, Number(bits)); return bytes.getFloat32(0);
    case "f64": bytes.setBigUint64(0, bits); return bytes.getFloat64(0);
    case "i32": return Number(BigInt.asIntN(32, bits));
    case "i64": return BigInt.asIntN(64, bits);
    default: return Number(bits);
  }
}
// The shortest decimal that means the same bits, as far as the dtype has digits.
function decimal(dtype, hex) {
  const value = fromBits(dtype, hex);
  if (typeof value === "bigint" || !Number.isFinite(value)) return String(value).replace("Infinity", "inf").replace("NaN", "nan");
  if (Object.is(value, -0)) return "-0";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
  if (dtype === "f64") return String(value);
  const same = dtype === "f32" ? (v) => Math.fround(v) === value : null;
  const digits = { f32: 9, f16: 5, bf16: 4 }[dtype] || 17;
  for (let k = 1; same && k <= digits; k++) {
    if (same(Number(value.toPrecision(k)))) return String(Number(value.toPrecision(k)));
  }
  return String(Number(value.toPrecision(digits)));
}
const value = (dtype, hex) => decimal(dtype, hex) + " (" + hex + ")";

// ---- what belongs together ----
const byOp = new Map(), byLine = new Map(), membersOf = new Map();
for (const span of spans) {
  const name = opName(span);
  if (!byOp.has(name)) byOp.set(name, []);
  byOp.get(name).push(span);
  if (!membersOf.has(span.group)) membersOf.set(span.group, new Set());
  membersOf.get(span.group).add(span.rank);
  for (const when of ["issue", "wait", "complete", "end"]) {
    if (span[when]) byLine.set(span[when].file + ":" + span[when].line, { it: span, when });
  }
}
for (const it of [...marks, ...reports]) {
  if (!byLine.has(it.at.file + ":" + it.at.line)) byLine.set(it.at.file + ":" + it.at.line, { it, when: "at" });
}
const legalOf = new Map();
for (const [group, number, element, bits, proof, tree, low, high] of history_.legal) {
  const name = names[group] + "/" + number;
  if (!legalOf.has(name)) legalOf.set(name, []);
  legalOf.get(name).push({ element, bits, proof, tree, low, high });
}

// How each operation is judged: the worst that was found of it.
const judged = new Map();
const findings = [...verdict.findings.map((f) => ({ ...f, is: f.excused_by ? "excused" : "wrong" })),
  ...verdict.notes.map((f) => ({ ...f, is: "note" }))];
for (const finding of findings) {
  if (finding.is === "note") continue;
  for (const number of finding.group !== undefined ? finding.ops : []) judged.set(finding.group + "/" + number, "wrong");
  for (const event of finding.events) {
    const place = placeOf(event);
    if (place && finding.metric === undefined && place.it.kind === "span") judged.set(opName(place.it), "wrong");
  }
}
function placeOf(event) {
  const file = history_.files.indexOf(event.file);
  return file < 0 ? null : byLine.get(file + ":" + event.line) || null;
}
function stateOf(span) {
  if (judged.get(opName(span))) return "wrong";
  return span.ended === 1 && span.out.length ? "good" : "unsure";
}
