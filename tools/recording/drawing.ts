import type { Look, Run } from "./screen.ts";

type Theme = "light" | "dark";

const COLOURS: Readonly<Record<Theme, Readonly<Record<Exclude<Look, ""> | "ground" | "bar" | "text", string>>>> = {
  light: {
    ground: "#ffffff",
    bar: "#eef1f4",
    text: "#24292f",
    bold: "#0b0e11",
    typed: "#0b0e11",
    dim: "#57606a",
    good: "#1a7f37",
    bad: "#b42318",
    warn: "#8a5300",
  },
  dark: {
    ground: "#14181d",
    bar: "#1f252c",
    text: "#d5dbe1",
    bold: "#ffffff",
    typed: "#ffffff",
    dim: "#9aa5b1",
    good: "#4ac26b",
    bad: "#ff8178",
    warn: "#e0a84e",
  },
};

const [LETTER, ROW, LEFT, TOP] = [8.05, 18, 16, 52];

/** The rows of a terminal as a picture in which they appear one after the other; where nothing moves, or nobody wants it to, they are all there. */
export function drawTerminal(rows: readonly (readonly Run[])[], theme: Theme, title: string): string {
  const colours = COLOURS[theme];
  const columns = Math.max(...rows.map((row) => row.reduce((sum, { text }) => sum + text.length, 0)));
  const width = Math.ceil(columns * LETTER + LEFT * 2);
  const height = TOP + rows.length * ROW + 4;
  const looks = (["bold", "dim", "good", "bad", "warn"] as const).map((look) => `.${look}{fill:${colours[look]}}`);
  let at = 0;
  const lines = rows.map((row, i) => {
    if (i > 0) at += row[0]?.text.startsWith("$") === true ? 0.9 : 0.12;
    return drawRow(row, TOP + i * ROW, at);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeText(title)}</title>`,
    "<style>",
    `text{font:13.4px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${colours.text};white-space:pre}`,
    `${looks.join("")}.bold,.good,.bad,.warn{font-weight:600}`,
    "@keyframes in{from{opacity:0}to{opacity:1}}@media(prefers-reduced-motion:no-preference){.r{animation:in .01s both}}",
    "</style>",
    `<rect width="${width}" height="${height}" rx="10" fill="${colours.ground}" stroke="${colours.bar}" stroke-width="2"/>`,
    `<path d="M1 30V11A10 10 0 0 1 11 1H${width - 11}A10 10 0 0 1 ${width - 1} 11V30z" fill="${colours.bar}"/>`,
    ...["#ec6a5e", "#f4bf4f", "#61c554"].map(
      (fill, i) => `<circle cx="${20 + i * 18}" cy="15" r="5.5" fill="${fill}"/>`,
    ),
    ...lines,
    "</svg>",
    "",
  ].join("\n");
}

function drawRow(row: readonly Run[], y: number, seconds: number): string {
  const parts = row.map(({ text, look }) =>
    look === "" ? escapeText(text) : `<tspan class="${look}">${escapeText(text)}</tspan>`,
  );
  return `<text class="r" x="${LEFT}" y="${y}" xml:space="preserve" style="animation-delay:${seconds.toFixed(2)}s">${parts.join("")}</text>`;
}

/** The words of a drawing, row by row. */
export function readDrawing(svg: string): string[] {
  return [...svg.matchAll(/<text class="r"[^>]*>(.*)<\/text>/g)].map(([, text]) =>
    text!
      .replaceAll(/<[^>]*>/g, "")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&"),
  );
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
