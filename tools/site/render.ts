import { posix } from "node:path";
import { Marked, type Tokens } from "marked";

/** A heading of a page. */
export interface Heading {
  readonly id: string;
  readonly text: string;
  readonly depth: number;
}

export interface Rendered {
  readonly html: string;
  readonly headings: readonly Heading[];
  /** Files beside the pages that are shown or linked, by their place in the repository. */
  readonly files: ReadonlySet<string>;
}

/** What a link leads to: the address in the site, and the file to take along, if it is not a page. */
export type Resolve = (source: string, link: string) => { readonly href: string; readonly file: string | null };

/** Renders the Markdown of one page; links and pictures go where the site has them. */
export function renderPage(source: string, markdown: string, resolve: Resolve): Rendered {
  const headings: Heading[] = [];
  const files = new Set<string>();
  const slugs = new Map<string, number>();
  let tables = 0;
  const follow = (link: string): string => {
    const { href, file } = resolve(source, link);
    if (file !== null) files.add(file);
    return href;
  };
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading): string {
        const html = this.parser.parseInline(tokens);
        const text = unescapeText(html.replaceAll(/<[^>]*>/g, ""));
        const id = slugOf(text, slugs);
        headings.push({ id, text, depth });
        const anchor =
          depth === 1 ? "" : ` <a class="anchor" href="#${id}" aria-label="Link to ${escapeText(text)}">#</a>`;
        return `<h${depth} id="${id}">${html}${anchor}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        // name@version is a package that Markdown takes for somebody's address.
        if (href.startsWith("mailto:")) return this.parser.parseInline(tokens);
        return `<a href="${escapeText(follow(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text }: Tokens.Image): string {
        return `<img src="${escapeText(follow(href))}" alt="${escapeText(text)}" loading="lazy">`;
      },
      html({ text }: Tokens.HTML | Tokens.Tag): string {
        return text.replaceAll(
          /\b(src|srcset)="([^"]+)"/g,
          (_, name: string, link: string) => `${name}="${escapeText(follow(link))}"`,
        );
      },
      code({ text, lang }: Tokens.Code): string {
        const name = (lang ?? "").split(" ")[0] ?? "";
        return `<pre tabindex="0"><code class="lang-${escapeText(name === "" ? "text" : name)}">${escapeText(text)}\n</code></pre>\n`;
      },
      table(token: Tokens.Table): string {
        const cells = (row: readonly Tokens.TableCell[], tag: string) =>
          row.map(({ tokens }) => {
            const html = this.parser.parseInline(tokens);
            return tag === "th" && html === ""
              ? "<td></td>"
              : `<${tag}${tag === "th" ? ' scope="col"' : ""}>${html}</${tag}>`;
          });
        const rows = token.rows.map((row) => `<tr>${cells(row, "td").join("")}</tr>`);
        const head = `<thead><tr>${cells(token.header, "th").join("")}</tr></thead>`;
        return `<div class="table" tabindex="0" role="region" aria-label="Table ${++tables}"><table>${head}<tbody>${rows.join("\n")}</tbody></table></div>\n`;
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { html, headings, files };
}

/** The id that GitHub gives a heading, so that one link works in both places. */
export function slugOf(text: string, seen: Map<string, number>): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, "")
    .replaceAll(" ", "-");
  const count = seen.get(slug) ?? 0;
  seen.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

/** Resolves links between the files of the repository; `has` knows which of them are pages. */
export function makeResolver(targets: ReadonlyMap<string, string>, has: (file: string) => boolean): Resolve {
  return (source, link) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(link) || link.startsWith("#")) return { href: link, file: null };
    const [path = "", fragment] = link.split("#");
    const place = posix.normalize(posix.join(posix.dirname(source), path)).replace(/\/$/, "");
    const tail = fragment === undefined ? "" : `#${fragment}`;
    const from = posix.dirname(targets.get(source) ?? "index.html");
    const target = targets.get(place) ?? targets.get(`${place}/README.md`);
    if (target !== undefined) return { href: `${posix.relative(from, target)}${tail}`, file: null };
    if (!has(place)) throw new Error(`${source}: there is nothing at ${link}`);
    return { href: `${posix.relative(from, `files/${place}`)}${tail}`, file: place };
  };
}

export function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

export function unescapeText(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}
