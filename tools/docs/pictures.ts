/** A box of a picture: its name, a line of small text below it, and what is written on the arrow to the next box. */
interface Box {
  readonly name: string;
  readonly says?: string;
  readonly arrow?: string;
  /** Drawn in the colour of what is decided. */
  readonly strong?: boolean;
}

/** Boxes in a row, left to right, with a sentence for those who do not see them and one below the row. */
interface Picture {
  readonly title: string;
  readonly boxes: readonly Box[];
  readonly below?: string;
}

/** The small pictures of the documents, by the name of their file. */
export const PICTURES: Readonly<Record<string, Picture>> = {
  flow: {
    title: "From an agent's view to your tree: view, patch, gates, verify, apply",
    boxes: [
      { name: "view", says: "the agent works here", arrow: "it ends" },
      { name: "patch", says: "what it changed" },
      { name: "gates", says: "scope, policy, git" },
      { name: "verify", says: "your commands", arrow: "you decide" },
      { name: "apply", says: "your tree", strong: true },
    ],
    below: "Until the last arrow your tree stays as it was, and that is checked. Every step is an entry in the ledger.",
  },
  "concept-agent": {
    title: "An agent run: attempt, candidate, selection, landing",
    boxes: [
      { name: "agent run", says: "one goal, one agent" },
      { name: "attempt", says: "one start of it" },
      { name: "candidate", says: "what it changed" },
      { name: "selection", says: "the part you chose" },
      { name: "landing", says: "onto your tree", strong: true },
    ],
  },
  "concept-confined": {
    title: "A catalytic run: snapshot, command under a guard, restore, proof",
    boxes: [
      { name: "snapshot", says: "what is there" },
      { name: "command", says: "under a guard" },
      { name: "restore", says: "byte for byte" },
      { name: "proof", says: "of all of it", strong: true },
    ],
  },
  "concept-workflow": {
    title: "A workflow run: goal, artifacts, gate, verify, patch",
    boxes: [
      { name: "goal", arrow: "roles" },
      { name: "artifacts", says: "plan, reviews, patch" },
      { name: "gate", says: "accepts or refuses" },
      { name: "verify", says: "in a copy" },
      { name: "patch", says: "in the repository", strong: true },
    ],
    below: "Where it fails, everything needed to see why is in the failure bundle.",
  },
  "concept-text": {
    title: "Text has an address: section, symbol, slice, expansion",
    boxes: [
      { name: "section", says: "below a heading" },
      { name: "symbol", says: "your name for it" },
      { name: "slice", says: "lines[2:4]" },
      { name: "expansion", says: "the exact bytes", strong: true },
    ],
    below: "Charged against a budget before anything is returned.",
  },
  "concept-jobs": {
    title: "A job: message, steps, receipts, bundle",
    boxes: [
      { name: "message", says: "asks for work" },
      { name: "job", says: "the plan" },
      { name: "steps", says: "one by one" },
      { name: "receipts", says: "one for each" },
      { name: "bundle", says: "portable", strong: true },
    ],
  },
  "concept-ledger": {
    title: "The ledger: every entry holds the hash of the one before; a checkpoint signs the whole",
    boxes: [
      { name: "entry 1", arrow: "hash" },
      { name: "entry 2", arrow: "hash" },
      { name: "entry 3", arrow: "root" },
      { name: "checkpoint", says: "signed, kept elsewhere", strong: true },
    ],
  },
  "concept-world": {
    title: "A beat of a world: what was said, the writer's proposal, the write bundle, entries, projections",
    boxes: [
      { name: "you say", arrow: "beat" },
      { name: "proposal", says: "by the writer" },
      { name: "write bundle", says: "all or nothing" },
      { name: "entries", says: "what was written" },
      { name: "projection", says: "as Ana sees it", strong: true },
    ],
  },
};

const [HEIGHT, TOP, GAP, PAD] = [46, 24, 34, 16];

/** One picture as SVG. It has its own ground, so that it can be read on pages of either colour. */
export function drawPicture({ title, boxes, below }: Picture): string {
  const widths = boxes.map(({ name, says = "" }) => Math.round(Math.max(name.length * 8.6, says.length * 6.6) + 26));
  const gaps = boxes.map(({ arrow = "" }, i) => (i === boxes.length - 1 ? 0 : Math.max(GAP, arrow.length * 6.4 + 22)));
  const starts = boxes.map((_, i) => PAD + sum(widths.slice(0, i)) + sum(gaps.slice(0, i)));
  const row = PAD * 2 + sum(widths) + sum(gaps);
  const width = Math.round(Math.max(row, below === undefined ? 0 : below.length * 6.3 + PAD * 2));
  const height = TOP * 2 + HEIGHT + (below === undefined ? 0 : 24);
  const shift = (width - row) / 2;
  const parts = boxes.flatMap((box, i) => drawBox(box, starts[i]! + shift, widths[i]!, gaps[i]!));
  if (below !== undefined) parts.push(text(width / 2, TOP + HEIGHT + 30, "small", below));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeText(title)}</title>`,
    STYLE,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">',
    '<path d="M0 0 8 4 0 8z" class="tip"/></marker></defs>',
    `<rect class="ground" width="${width}" height="${height}" rx="8"/>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

const STYLE = `<style>
.ground{fill:#ffffff}.box{fill:#f4f6f8;stroke:#8a94a0}.strong{fill:#e3f3e8;stroke:#2e7d4f}.name,.small{text-anchor:middle}
.name{font:600 14px system-ui,sans-serif;fill:#1b1f24}.small{font:11.5px system-ui,sans-serif;fill:#4a535e}
.line{stroke:#6b7580;stroke-width:1.4}.tip{fill:#6b7580}
@media (prefers-color-scheme:dark){.ground{fill:#14181d}.box{fill:#1e242b;stroke:#5b6672}.strong{fill:#183526;stroke:#57b37f}
.name{fill:#e8ecf0}.small{fill:#b3bcc6}.line{stroke:#8f9aa6}.tip{fill:#8f9aa6}}
</style>`;

function drawBox({ name, says, arrow, strong }: Box, x: number, width: number, gap: number): string[] {
  const middle = round(x + width / 2);
  const parts = [
    `<rect class="box${strong === true ? " strong" : ""}" x="${round(x)}" y="${TOP}" width="${width}" height="${HEIGHT}" rx="7"/>`,
    text(middle, says === undefined ? TOP + 28 : TOP + 20, "name", name),
  ];
  if (says !== undefined) parts.push(text(middle, TOP + 37, "small", says));
  if (gap > 0) {
    const [from, to] = [round(x + width + 3), round(x + width + gap - 3)];
    parts.push(`<path class="line" d="M${from} ${TOP + HEIGHT / 2}H${to}" marker-end="url(#tip)"/>`);
    if (arrow !== undefined) parts.push(text(round((from + to) / 2), TOP + HEIGHT / 2 - 7, "small", arrow));
  }
  return parts;
}

function text(x: number, y: number, kind: string, words: string): string {
  return `<text class="${kind}" x="${round(x)}" y="${y}">${escapeText(words)}</text>`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeText(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
