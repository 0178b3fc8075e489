// Makes Markdown documents out of fragments, from a seed. What matters is what the fragments do to each other.

const BLOCK = [
  ..."# |## |###### |####### |#|#\t| #| ##  |\\#".split("|"),
  ..."> |>|>\t|- |-|-\t|* |+ |1. |2) |01. |0. |123456789. |1234567890. |1.|-   |-     ".split("|"),
  ..."    |\t| |  |   |     ".split("|"),
  ..."```|````|~~~|``` x|~~~ `|``` `|`` ".split("|"),
  ..."===|---|=|-|- - -|***|* * *|_ _ _|--|===  |== =|__|- -\t-|---\n|===\n".split("|"),
  ..."<div>|</div>|<pre>|</pre>|<!--|-->|<?|?>|<!X|<![CDATA[|]]>|<b>|<b|</b>|<b x='y'>|<script>|</SCRIPT>|<DIV/>".split(
    "|",
  ),
  ..."<h1|<h7>|<textarea|<style >|<search>|<x-y z>|<a b=c\u00a0d=e>|</a\u00a0>|<div\u00a0|<b> x".split("|"),
  ..."<a _b :c.d>|<a b=`>|<a b='c'd>|<a b=c'd>|<a 1>|<!12345678|<!x|</1>|</b c>|<div/|<pre/>|<a/ >|<!-|<a b=\u0001>|<a\0>".split(
    "|",
  ),
  ...'[foo]: /url|[foo]:|/url|"title"|\'t|[a]: <b c> \'d\'|[a]: b (c)|[a]: b "c" d|[|]:|[]: x|[ ]: x|[a\\]]: b|[a]: (b|[a]: <|[a]:\tb'.split(
    "|",
  ),
  ..."\u000b|\u000c|\u00a0|\ufeff|\u2028|\0|text|a|\u00e9|\u{1f600}|[x](y)|1|2\\.".split("|"),
] as const;

const INLINE = [
  ...'*|**|***|****|_|__|___|`|``|```|[|]|(|)|](|![|<|>|<a>|<a href="|"|\'|&|!|#| #|$|+|-|=|/'.split("|"),
  ..."<a b=c\u00a0d=e>|<a b=\u00a0>|<a b=\u00a0 c=d>|</a >|<!-- c -->|<!-->|<!--->|<?x?>|<!X>|<![CDATA[x]]>|<a b='|<a/>|<a b=c/>|< a>".split(
    "|",
  ),
  ..."<http://x.invalid>|<a@b.invalid>|<a@-b>|<m:>|<mm:>|<m m:>|<a.b+c-d:\\e>".split("|"),
  ..."&amp;|&copy;|&#35;|&#x1F600;|&#0;|&#128;|&#x110000;|&#xD800;|&nosuch;|&AMP|&NotEqualTilde;|&#X41;|&#12345678;|&#x1234567;|&nbsp;".split(
    "|",
  ),
  ..."\\|\\*|\\\\|\\q|\\[|\\]|\\`|\\<|\\&|\\!|\n|  \n|\\\n|\n  | |  |\t".split("|"),
  ..."a|b|x y|\u00e9|\u201c|\u201d|\u{1f600}|\u00a0|\u2028|\u3000|\0|\u20ac|\ufffd".split("|"),
  ..."(a)|<b>)|\"t\")|(b \"t\")|(b 't' )|(<b\\>>)|(<b c>)|(b c)| 't'|(<|(\\)|()|( )|(\n)|(a(b)c)|(a\\(b)|(a(\\)|](a(b\\)|](a\\)(|](a(b(c)|[a](b)|![a](b)|[[a](b)](c)|[![a](b)](c)".split(
    "|",
  ),
] as const;

/** Numbers from a seed; each call gives one in [0, bound). */
export function seededNumbers(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % bound;
  };
}

/** One document; `next` decides everything about it. */
export function makeDocument(next: (bound: number) => number): string {
  const kind = next(10);
  if (kind < 3) return makeHeading(next);
  return kind < 6 ? makeNested(next) : makeLines(next);
}

function pick(next: (bound: number) => number, list: readonly string[]): string {
  return list[next(list.length)]!;
}

function makeHeading(next: (bound: number) => number): string {
  let text = pick(next, ["# ", "", "", "[a]: b\n", "x ", "\ufeff# ", "---\na: b\n---\n"]);
  for (let i = next(14); i >= 0; i--) text += pick(next, INLINE);
  return text + pick(next, ["\n===\n", "\n---\n", "\n", "", " ##", "\n=\nx"]);
}

function makeLines(next: (bound: number) => number): string {
  let text = "";
  for (let line = next(8); line >= 0; line--) {
    for (let i = next(5); i > 0; i--) text += pick(next, next(5) === 0 ? INLINE : BLOCK);
    if (next(20) > 0) text += "\n";
  }
  return text;
}

/** Lines inside containers that mostly go on from line to line, so that nesting is deep and closes in odd places. */
function makeNested(next: (bound: number) => number): string {
  const open: string[] = [];
  let text = "";
  for (let line = next(9); line >= 0; line--) {
    for (const marker of open) if (next(8) > 0) text += marker;
    while (next(3) === 0) {
      const marker = pick(next, ["> ", ">", "- ", "1. ", "-   ", "*\t", "10) "]);
      text += marker;
      open.push(marker.startsWith(">") ? marker : " ".repeat(marker.length));
    }
    for (let i = next(3); i > 0; i--) text += pick(next, BLOCK);
    text += "\n";
    if (next(6) === 0) open.pop();
  }
  return text;
}
