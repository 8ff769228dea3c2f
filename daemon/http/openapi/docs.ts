// The API reference, made from the OpenAPI document: a first page with guides, a page for each
// area, a page of errors, and a search over all pages. documents.ts serves it. A library for this
// would add megabytes.
import { escapeHtml } from '../../../src/platform/net/escape-html.ts';
import type { PartedWork } from '../../../src/platform/runtime/fairness/loop-turns.ts';
import { drawPage, inline, type NavigationItem, prose } from './docs-page.ts';
import {
  type Drawing,
  drawEvent,
  drawOperation,
  drawSchema,
  eventAnchor,
  operationsOf,
  operationsOn,
  schemaAnchor,
} from './docs-sections.ts';
import { guides } from './guides.ts';
import type { OpenApiDocument } from './openapi.ts';

const commandsNote =
  'Paste each curl command into a shell, after `export SVC_API_KEY=…` and, if the path ' +
  'has an id, `ID=…`. Its body is an example.';
const errorsNote =
  'Errors are flat objects. `_tag` names the kind, and the other fields follow it.';
const eventsPage = 'events';
const errorsPage = 'errors';

export interface ReferenceOptions {
  /** Time in ms since 1970: curl commands schedule for a time after it. */
  now: number;
  /** Version of the program. */
  productVersion: string;
}

export interface Reference {
  /** Pages as HTML, by path: `/docs`, `/docs/messages`. */
  pages: ReadonlyMap<string, string>;
  /** Returns a page of every section that contains all words of the search. */
  search: (search: string) => string;
}

/** An operation, an event or a schema: anchor, link text, section, and words for the search. */
interface Entry {
  anchor: string;
  text: string;
  section: string;
  words: string;
}

interface Chapter {
  path: string;
  name: string;
  description: string;
  entries: readonly Entry[];
}

/** Draws the reference section by section. Escapes all content of the document. */
export function* drawReference(
  document: OpenApiDocument,
  options: ReferenceOptions,
): PartedWork<Reference> {
  const chapters = yield* drawChapters(document, options.now);
  const { info } = document;
  const title = `${info.title} ${info.version}`;
  const page = (heading: string, body: string, open: readonly Chapter[], search = '') =>
    drawPage({ title, heading, body, search, navigation: navigationOf(chapters, open) });
  const front = frontPage(document, chapters, options);
  const pages = new Map([['/docs', page(`${info.title} API ${info.version}`, front, [])]]);
  for (const chapter of chapters) {
    const { path, name, description, entries } = chapter;
    const body = prose(description) + entries.map(({ section }) => section).join('');
    pages.set(path, page(name, body, [chapter]));
    yield;
  }
  return {
    pages,
    search(search) {
      const asked = search.toLowerCase().split(/\s+/).filter(Boolean);
      const found = chapters
        .map((chapter) => ({
          ...chapter,
          entries: chapter.entries.filter(({ words }) => asked.every((one) => words.includes(one))),
        }))
        .filter(({ entries }) => entries.length > 0);
      const sections = found.map(
        ({ name, entries }) =>
          `<h2>${escapeHtml(name)}</h2>${entries.map(({ section }) => section).join('')}`,
      );
      const count = found.reduce((sum, { entries }) => sum + entries.length, 0);
      return page('Search', drawResult(search, count) + sections.join('\n'), found, search);
    },
  };
}

/** Returns the path of the page of an area. */
export function areaPath(area: string): string {
  return `/docs/${area.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
}

function* drawChapters(document: OpenApiDocument, now: number): PartedWork<Chapter[]> {
  const { tags, components, webhooks } = document;
  const places = yield* placeSchemas(document);
  const pathOf = (name: string) => places.get(name) ?? areaPath(errorsPage);
  const linkOf = (name: string) => `${pathOf(name)}#${schemaAnchor(name)}`;
  const drawing: Drawing = { document, now, linkOf };
  const names = Object.keys(components.schemas).sort((a, b) => a.localeCompare(b, 'en'));
  function* schemasOn(path: string): PartedWork<Entry[]> {
    const entries: Entry[] = [];
    for (const name of names.filter((each) => pathOf(each) === path)) {
      const section = drawSchema(name, components.schemas[name] ?? {}, linkOf);
      entries.push(entryOf(schemaAnchor(name), name, section));
      yield;
    }
    return entries;
  }
  const chapters: Chapter[] = [];
  for (const { name, description = '' } of tags) {
    const entries: Entry[] = [];
    for (const each of operationsOn(document, name)) {
      const { operationId } = each.operation;
      entries.push(entryOf(operationId, operationId, drawOperation(each, drawing)));
      yield;
    }
    for (const kind of name === eventsPage ? Object.keys(webhooks) : []) {
      entries.push(entryOf(eventAnchor(kind), kind, drawEvent(kind, drawing)));
      yield;
    }
    const path = areaPath(name);
    entries.push(...(yield* schemasOn(path)));
    chapters.push({ path, name, description, entries });
  }
  const path = areaPath(errorsPage);
  const entries = yield* schemasOn(path);
  return [...chapters, { path, name: errorsPage, description: errorsNote, entries }];
}

function entryOf(anchor: string, text: string, section: string): Entry {
  const words = unescapeHtml(section.replace(/<pre>[^<]*<\/pre>|<[^<>]*>/g, ' ')).toLowerCase();
  return { anchor, text, section, words };
}

/** Reverts escapeHtml. */
function unescapeHtml(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

/** Returns the page on which each schema is drawn: errors, or the first area that uses it. */
function* placeSchemas(document: OpenApiDocument): PartedWork<Map<string, string>> {
  const { components, tags, webhooks } = document;
  const places = new Map<string, string>();
  const place = (value: unknown, path: string): void => {
    const text = JSON.stringify(value) ?? '';
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (places.has(name)) continue;
      places.set(name, path);
      place(components.schemas[name], path);
    }
  };
  place(components.responses, areaPath(errorsPage));
  for (const { name } of tags) {
    place(operationsOn(document, name), areaPath(name));
    yield;
  }
  place(webhooks, areaPath(eventsPage));
  return places;
}

/** Lists all pages; for the open chapters also the sections. */
function navigationOf(
  chapters: readonly Chapter[],
  open: readonly Chapter[],
): readonly NavigationItem[] {
  const files = ['/v1/openapi.json', '/llms.txt'].map((href) => ({ href, text: href }));
  const pages = chapters.map(({ path, name }) => {
    const entries = open.find((one) => one.path === path)?.entries ?? [];
    const inner = entries.map(({ anchor, text }) => ({ href: `${path}#${anchor}`, text }));
    return { href: path, text: name, inner };
  });
  return [...files, ...pages];
}

/** Draws the first page: the program, guides in short, and every operation by its area. */
function frontPage(
  document: OpenApiDocument,
  chapters: readonly Chapter[],
  { productVersion }: ReferenceOptions,
): string {
  const { info, servers } = document;
  const operations = operationsOf(document);
  const pathOf = (tag = '') => areaPath(tag);
  const linkTo = (name: string) => {
    const found = operations.find(({ operation }) => operation.operationId === name);
    if (!found) return '';
    const { method, path, operation } = found;
    const words = `<code>${method.toUpperCase()} ${escapeHtml(path)}</code>`;
    return `<li><a href="${pathOf(operation.tags[0])}#${name}">${words}</a> ${escapeHtml(operation.summary)}</li>`;
  };
  const about =
    `<p>Program: <code>${escapeHtml(`${info.title} ${productVersion}`)}</code>. ` +
    `Server: <code>${escapeHtml(servers[0]?.url ?? '')}</code></p>`;
  const steps = guides.map(
    ({ title, text, operations: names }) =>
      `<h3>${escapeHtml(title)}</h3>${prose(text)}<ul>${names.map(linkTo).join('')}</ul>`,
  );
  const areas = chapters.map(
    ({ path, name, description }) =>
      `<li><a href="${path}">${escapeHtml(name)}</a> ${inline(description)}</li>`,
  );
  return `${prose(info.description)}${about}${prose(commandsNote)}
<h2>Guides in short</h2>${steps.join('\n')}
<h2>Areas</h2><ul>${areas.join('\n')}</ul>`;
}

function drawResult(search: string, count: number): string {
  const places = count === 1 ? '1 place has' : `${count} places have`;
  const words = `“${escapeHtml(search)}”`;
  return `<p role="status">${places} the words ${words}. <a href="/docs">Back to the start</a></p>`;
}
