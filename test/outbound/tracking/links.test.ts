// Links found and replaced in a corpus of our own: nothing else in a mail changes, tracked links
// are never tracked again, and hostile HTML costs bounded time. Compared with parse5's own tree.
import { parse, type DefaultTreeAdapterTypes as Tree } from 'parse5';
import { describe, expect, it } from 'vitest';
import {
  type Cuts,
  fillLinks,
  findLinks,
  mostLinks,
} from '../../../src/outbound/tracking/links.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { corpus } from './corpus.ts';

const base = 'https://click.example.com';
const linkUrl = (link: number) => `${base}/t/c/${link}`;
const pixelUrl = `${base}/t/o/0`;
const ours = (url: string) =>
  url === pixelUrl ? 'pixel' : url.startsWith(`${base}/t/c/`) ? 'link' : null;

function foundIn(html: string) {
  return findLinks(html, ours);
}

const fill = (html: string, cuts: Cuts) => fillLinks(html, cuts, linkUrl, pixelUrl);

/** Lists elements, attributes and texts in order, without our pixel and its placeholder. */
function outline(node: Tree.Node, urls: readonly string[]): string[] {
  if ('value' in node) return [`text ${node.value}`];
  if (node.nodeName === '#comment') return [`comment ${(node as Tree.CommentNode).data}`];
  const children = 'childNodes' in node ? node.childNodes : [];
  const inner = children.flatMap((child) => outline(child, urls));
  const body = 'content' in node ? outline(node.content, urls) : [];
  if (!('attrs' in node)) return [...inner, ...body];
  const attributes = node.attrs.map(({ name, value }) => {
    const link = value.startsWith(`${base}/t/c/`) ? Number(value.slice(base.length + 5)) : 0;
    return `${name}=${link > 0 ? urls[link - 1] : name === 'href' ? written(value) : value}`;
  });
  if (attributes.includes(`src=${pixelUrl}`)) return [];
  return [`<${node.tagName} ${attributes}>`, ...inner, ...body, `</${node.tagName}>`];
}

function written(href: string): string {
  return /^\s*https?:/i.test(href) && URL.canParse(href) ? new URL(href).href : href;
}

/**
 * Drops formatting elements that the parser repeats around the pixel alone, because they are
 * invisible.
 */
function withoutEmpty(lines: string[]): string[] {
  const kept: string[] = [];
  for (const line of lines) {
    const last = kept.at(-1);
    if (/^<\/(b|a)>$/.test(line) && last?.startsWith(`<${line.slice(2, -1)} `)) kept.pop();
    else kept.push(line);
  }
  return kept;
}

describe('an address to unsubscribe', () => {
  it.each([
    'https://shop.example/opt-out',
    'https://shop.example/optout',
    'https://shop.example/OPT-OUT?u=1',
    'https://shop.example/email_optout.php',
    'https://shop.example/emailOptOut',
    'https://shop.example/OptOut.aspx',
    'https://shop.example/opt_out/7',
    'https://shop.example/?action=opt-out',
    'https://shop.example/?next=%2Fopt-out',
    'https://optout.shop.example/',
    'https://shop.example/unsubscribe',
    'https://shop.example/newsletter/abmelden',
    'https://shop.example/d%C3%A9sinscription',
  ])('is not tracked: %s', async (url) => {
    expect((await foundIn(`<a href="${url}">x</a>`)).urls).toEqual([]);
  });

  it.each([
    'https://shop.example/adopt-outdoor-dogs',
    'https://shop.example/adoptout',
    'https://shop.example/co-opt-outlook',
    'https://shop.example/optoutfitters',
    'https://shop.example/opt-outdoor',
    'https://optoutside.example/',
    'https://shop.example/laptop-outlet',
    'https://shop.example/ADOPT-OUT',
    'https://shop.example/adoptOutdoor',
    'https://shop.example/adopt_outcome',
  ])('is not %s', async (url) => {
    expect((await foundIn(`<a href="${url}">x</a>`)).urls).toEqual([url]);
  });
});

describe('the corpus of mails', () => {
  it('has forty mails', () => {
    expect(new Set(corpus.map(({ name }) => name)).size).toBe(40);
  });

  it.each(corpus)(
    '$name: its links are found and the rest stays',
    async ({ html, links, pixel }) => {
      const found = await foundIn(html);
      expect([found.urls.length, found.found]).toEqual([links, links]);
      expect(found.cuts.pixelAt !== null).toBe(pixel !== false);
      const filled = fill(html, found.cuts);
      const tree = (text: string) => withoutEmpty(outline(parse(text), found.urls));
      expect(tree(filled)).toEqual(tree(html));
      // Byte for byte: everything except the addresses of links and our pixel is unchanged.
      const rest = filled
        .replace(/<img src="[^"]*\/t\/o\/0"[^>]*>/, '')
        .split(/https:[^"'\s>]*\/t\/c\/\d+/);
      let at = 0;
      for (const piece of rest) {
        const next = html.indexOf(piece, at);
        expect(next).toBeGreaterThanOrEqual(at);
        at = next + piece.length;
      }
      expect(at).toBe(html.length);
    },
  );

  it.each(corpus)('$name: its tracked links are not tracked again', async ({ html }) => {
    const once = fill(html, (await foundIn(html)).cuts);
    const again = await foundIn(once);
    expect([again.urls, fill(once, again.cuts)]).toEqual([[], once]);
  });

  it.each(corpus)('$name: it is unchanged without tracking', async ({ html }) => {
    const { cuts } = await foundIn(html);
    expect(fillLinks(html, cuts, null, null)).toBe(html);
    const opens = fillLinks(html, cuts, null, pixelUrl);
    expect(opens.replace(/<img src="[^"]*\/t\/o\/0"[^>]*>/, '')).toBe(html);
  });

  it('keeps MSO conditionals byte for byte', async () => {
    const html = corpus.find(({ name }) => name === 'MSO conditionals')?.html ?? '';
    const filled = fill(html, (await foundIn(html)).cuts);
    const conditionals = html.match(/<!--\[if.*?endif\]-->/g) ?? [];
    expect(conditionals).toHaveLength(2);
    for (const one of conditionals) expect(filled).toContain(one);
  });

  it('stores addresses as a browser requests them', async () => {
    const urls = async (name: string) =>
      (await foundIn(corpus.find((one) => one.name === name)?.html ?? '')).urls;
    expect(await urls('entities')).toEqual(['https://shop.example/?a=1&b=2&copy=3&c']);
    expect(await urls('letters of the world')).toEqual([
      'https://xn--mnchen-3ya.example/stra%C3%9Fe?q=%C3%BC',
    ]);
    expect(await urls('two addresses')).toEqual(['https://shop.example/1']);
  });
});

describe('hostile HTML', () => {
  const link = '<a href="https://shop.example/x">x</a>';

  it('with 50,000 links has the first 1,000 tracked and all counted', async () => {
    const html = '<a href=http://x.y>'.repeat(50_000);
    const { urls, found, cuts } = await foundIn(html);
    expect([urls.length, found, cuts.links.length]).toEqual([mostLinks, 50_000, 2 * mostLinks]);
    expect(fill(html, cuts)).toMatch(/<a href=http:\/\/x\.y><img src="[^"]+"[^>]+>$/);
  });

  it('of 10 MB has its first million characters read and the rest sent unchanged', async () => {
    const html = `${link}<p>${'x'.repeat(10_000_000)}</p>${link}</body>`;
    const { urls, cuts, isCut } = await foundIn(html);
    expect([urls.length, cuts.pixelAt, isCut]).toEqual([1, null, true]);
    expect(fill(html, cuts)).toBe(html.replace('https://shop.example/x', linkUrl(1)));
  });

  it.each([
    ['nested 10,000 deep', `${'<div>'.repeat(10_000)}${link}${'</div>'.repeat(10_000)}`, 1],
    ['tables nested 10,000 deep', `${'<table><tr><td>'.repeat(10_000)}${link}`, 1],
    ['never closed', `${link}<!--${'-<'.repeat(400_000)}`, 1],
    ['quotes and brackets', `${link}${`>"'<a x`.repeat(100_000)}`, 1],
    ['one tag of a megabyte', `${link}<a ${'x="y" '.repeat(150_000)}`, 1],
    ['text without an end', `${link}<p>${'x"'.repeat(450_000)}`, 1],
  ])('%s is read in bounded time', async (_name, html, links) => {
    const start = startWork();
    expect((await foundIn(html)).found).toBe(links);
    expect(workedMs(start)).toBeLessThan(5_000);
  });
});
