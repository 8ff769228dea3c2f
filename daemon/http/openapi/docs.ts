// The API reference: a single page made from the OpenAPI document, with a search. No script, no
// external asset, printable, and as wide as the window from 320 px on; a library for this would
// bring megabytes. documents.ts serves it.

import { escapeHtml } from '../../../src/platform/net/escape-html.ts';
import { curlOf } from './curl.ts';
import type { OpenApiDocument, Operation, Parameter } from './openapi.ts';
import type { JsonSchema } from './openapi-schemas.ts';

const deepestFields = 6;
/** Longest search in characters; the rest is ignored. */
export const longestSearch = 100;
const commandsNote =
  'Paste each curl command into a shell, after `export SVC_API_KEY=…` and, if the path ' +
  'has an id, `ID=…`. Its body is an example.';

export const docsStyle = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --link: #0b63c5; }
@media (prefers-color-scheme: dark) { :root { --link: #6cb0ff; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; display: flex; overflow-wrap: anywhere;
  -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; flex: 0 0 17rem; padding: 1rem;
  box-sizing: border-box; border-right: 1px solid var(--line); font-size: 13px; }
main { flex: 1; min-width: 0; max-width: 60rem; padding: 1rem 2rem; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
code { background: var(--soft); border-radius: 3px; padding: 0 .25em; }
pre { background: var(--soft); border-radius: 5px; padding: .75rem; overflow-x: auto; }
#menu, #menu + label { display: none; }
form { display: flex; gap: .5rem; margin: 0 0 1rem; }
input[type=search] { flex: 1; min-width: 0; font: inherit; padding: .3rem; }
summary { cursor: pointer; font-size: 13px; }
section { border-top: 1px solid var(--line); margin-top: 2rem; }
h3 code { background: none; padding: 0; font-size: 16px; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0;
  border-bottom: 1px solid var(--line); }
th { font-size: 12px; font-weight: 600; }
td { min-width: 3.5rem; }
small { opacity: .75; }
@media (max-width: 50rem) {
  body { display: block; }
  nav { position: static; height: auto; border: 0; border-bottom: 1px solid var(--line); }
  #menu { display: inline; } #menu + label { display: inline; font-weight: 600; }
  #menu:not(:checked) ~ div { display: none; }
  nav a { display: block; padding: .3rem 0; }
  main { padding: .5rem 1rem; }
}
@media (max-width: 40rem) {
  thead { display: none; } table, tbody, tr, td { display: block; }
  tr { border-bottom: 1px solid var(--line); padding: .4rem 0; } td { border: 0; padding: 0; }
}
@media print { nav { display: none; } section { break-inside: avoid; } }
`;

export interface ReferenceOptions {
  /** Time in ms since 1970: curl commands schedule for a time after it. */
  now: number;
  /** Version of the program. */
  productVersion: string;
}

/**
 * An operation or a schema: the link in the navigation, the section, and the words for the search.
 */
interface Entry {
  link: string;
  section: string;
  words: string;
}

interface Chapter {
  name: string;
  description: string;
  entries: readonly Entry[];
}

/**
 * Draws the reference once. Returns a function that gives the page as HTML, or the part of it with
 * all words of a search. All content of the document is escaped.
 */
export function drawReference(
  document: OpenApiDocument,
  { now, productVersion }: ReferenceOptions,
): (search?: string) => string {
  const { info, servers, tags, paths, components } = document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const chapters: Chapter[] = tags.map(({ name, description = '' }) => ({
    name,
    description,
    entries: operations
      .filter(({ operation }) => operation.tags[0] === name)
      .map((one) => {
        const { operationId, summary } = one.operation;
        const section = drawOperation(one, document, now);
        return entryOf(operationId, summary, section);
      }),
  }));
  const schemaNames = Object.keys(components.schemas).sort((a, b) => a.localeCompare(b, 'en'));
  const schemas = schemaNames.map((name) =>
    entryOf(schemaAnchor(name), name, drawSchema(name, components.schemas[name] ?? {})),
  );
  chapters.push({ name: 'Schemas', description: '', entries: schemas });
  const title = `${escapeHtml(info.title)} API ${escapeHtml(info.version)}`;
  const about =
    `<p>Program: <code>${escapeHtml(`${info.title} ${productVersion}`)}</code>. ` +
    `Server: <code>${escapeHtml(servers[0]?.url ?? '')}</code></p>`;
  const intro = `${prose(info.description)}${about}\n${prose(commandsNote)}`;
  return (search = '') => {
    const asked = search.toLowerCase().split(/\s+/).filter(Boolean);
    const found = chapters
      .map((chapter) => ({
        ...chapter,
        entries: chapter.entries.filter(({ words }) => asked.every((word) => words.includes(word))),
      }))
      .filter(({ entries }) => entries.length > 0);
    const count = found.reduce((sum, { entries }) => sum + entries.length, 0);
    const result = asked.length > 0 ? drawResult(search, count) : intro;
    return drawPage({ title, search, result, chapters: found });
  };
}

function entryOf(anchor: string, text: string, section: string): Entry {
  const words = unescapeHtml(section.replace(/<pre>[^<]*<\/pre>|<[^<>]*>/g, ' ')).toLowerCase();
  return { link: listLink(anchor, text), section, words };
}

/** Reverts escapeHtml. */
function unescapeHtml(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

function drawResult(search: string, count: number): string {
  const places = count === 1 ? '1 place has' : `${count} places have`;
  const words = `“${escapeHtml(search)}”`;
  return `<p role="status">${places} the words ${words}. <a href="/docs">Show all</a></p>`;
}

function drawPage({
  title,
  search,
  result,
  chapters,
}: {
  title: string;
  search: string;
  result: string;
  chapters: readonly Chapter[];
}): string {
  const navigation = chapters.map(
    ({ name, entries }) =>
      `<h4>${escapeHtml(name)}</h4><ul>${entries.map(({ link }) => link).join('')}</ul>`,
  );
  const body = chapters.map(
    ({ name, description, entries }) =>
      `<h2>${escapeHtml(name)}</h2>${prose(description)}` +
      entries.map(({ section }) => section).join(''),
  );
  const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,"><style>${docsStyle}</style></head>
<body><nav><h3>${title}</h3>
<form action="/docs" role="search"><input type="search" name="q" aria-label="Search the reference"
placeholder="Search" maxlength="${longestSearch}" value="${escapeHtml(search)}"> <button>Search</button></form>
<input type="checkbox" id="menu"> <label for="menu">Contents</label>
<div><a href="/v1/openapi.json">openapi.json</a>
${navigation.join('\n')}
</div></nav><main><h1>${title}</h1>
${result}
${body.join('\n')}
</main></body></html>
`;
  return search === '' ? page : withLinksToOthers(page);
}

/** Points links to sections that a search left out at the whole reference. */
function withLinksToOthers(page: string): string {
  const here = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  return page.replace(/href="#([^"]+)"/g, (link, id) =>
    here.has(id) ? link : `href="/docs#${id}"`,
  );
}

function drawOperation(
  entry: { path: string; method: string; operation: Operation },
  document: OpenApiDocument,
  now: number,
): string {
  const { path, method, operation } = entry;
  const body = operation.requestBody;
  const bodySchema = body?.content['application/json']?.schema;
  const types = Object.keys(bodySchema ? {} : (body?.content ?? {}));
  return `<section id="${escapeHtml(operation.operationId)}">
<h3>${escapeHtml(operation.summary)}</h3><p><code>${method.toUpperCase()} ${escapeHtml(path)}</code></p>
${prose(operation.description)}${drawParameters(operation.parameters ?? [])}
${bodySchema ? drawBody(bodySchema, body?.required === true, document) : ''}
${types.length > 0 ? `<h4>Body</h4>${prose(`As ${codes(types)}`)}` : ''}
<h4>Answers</h4>${drawAnswers(operation, document)}
<pre>${escapeHtml(curlOf(entry, document, now))}</pre></section>`;
}

/** Draws the fields of a body in place, the fields of a named schema too. */
function drawBody(schema: JsonSchema, isRequired: boolean, document: OpenApiDocument): string {
  const named = componentOf(schema, document);
  const items = componentOf((named.items ?? {}) as JsonSchema, document);
  const isList = items.properties !== undefined;
  const rows = isList ? fieldRows(items, '0.', 0) : fieldRows(named, '', 0);
  const type = schema === named && !isList && rows.length > 0 ? '' : `<p>${typeText(schema)}</p>`;
  const fields = rows.length > 0 ? table(['Field', 'Type', ''], rows) : '';
  return `<h4>Body${isRequired ? '' : ' (optional)'}</h4>${type}${fields}`;
}

/** Returns the component that a schema refers to, or the schema itself. */
function componentOf(schema: JsonSchema, { components }: OpenApiDocument): JsonSchema {
  if (typeof schema.$ref !== 'string') return schema;
  return components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? schema;
}

function codes(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(' or ');
}

function drawParameters(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(({ name, in: place, required, description, schema }) => [
    `<code>${escapeHtml(name)}</code><br><small>${place}${required ? ', required' : ''}</small>`,
    typeText(schema),
    inline(description ?? ''),
  ]);
  return `<h4>Parameters</h4>${table(['Name', 'Type', ''], rows)}`;
}

/** Draws the answers, errors folded. */
function drawAnswers(operation: Operation, { components }: OpenApiDocument): string {
  const rows = Object.entries(operation.responses).map(([status, given]) => {
    const name = given.$ref?.split('/').at(-1) ?? '';
    const answer = components.responses[name] ?? given;
    const { content = {} } = answer;
    const schema = content['application/json']?.schema;
    const type = schema ? typeText(schema) : inline(codes(Object.keys(content)));
    return [status, type, inline(answer.description ?? '')];
  });
  const heads = ['Status', 'Body', ''];
  const errors = rows.filter(([status = '']) => status >= '400');
  const others = rows.filter(([status = '']) => status < '400');
  const statuses = errors.map(([status]) => status).join(', ');
  const folded = `<details><summary>Errors: ${statuses}</summary>${table(heads, errors)}</details>`;
  return table(heads, others) + folded;
}

function drawSchema(name: string, schema: JsonSchema): string {
  return `<section id="${schemaAnchor(name)}"><h3>${escapeHtml(name)}</h3>
${prose(typeof schema.description === 'string' ? schema.description : '')}${drawFields(schema)}</section>`;
}

/**
 * Returns a table of fields by dotted path; a schema that is not an object takes a single line.
 */
function drawFields(schema: JsonSchema): string {
  const rows = fieldRows(schema, '', 0);
  return rows.length === 0 ? `<p>${typeText(schema)}</p>` : table(['Field', 'Type', ''], rows);
}

function fieldRows(schema: JsonSchema, prefix: string, depth: number): string[][] {
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const required = (schema.required ?? []) as string[];
  if (depth > deepestFields) return [];
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const note = required.includes(name) ? '' : '<br><small>optional</small>';
    const text = typeof field.description === 'string' ? field.description : '';
    const row = [`<code>${escapeHtml(path)}</code>${note}`, typeText(field), inline(text)];
    const items = field.items as JsonSchema | undefined;
    const inner = items?.properties ? fieldRows(items, `${path}.0.`, depth + 1) : [];
    return [row, ...fieldRows(field, `${path}.`, depth + 1), ...inner];
  });
}

/** Describes a schema in words, with links to named schemas. */
function typeText(schema: JsonSchema): string {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return `<a href="#${schemaAnchor(name)}">${escapeHtml(name)}</a>`;
  }
  const options = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (options) return options.map(typeText).join(' or ');
  if (Array.isArray(schema.enum)) {
    return schema.enum.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(', ');
  }
  if (schema.const !== undefined) return `<code>${escapeHtml(String(schema.const))}</code>`;
  if (schema.type === 'array') return `list of ${typeText((schema.items ?? {}) as JsonSchema)}`;
  const values = schema.additionalProperties;
  if (typeof values === 'object' && values) return `map of ${typeText(values as JsonSchema)}`;
  return escapeHtml(plainType(schema)) + bounds(schema);
}

function plainType({ type, format }: JsonSchema): string {
  const name = Array.isArray(type) ? type.join(' or ') : String(type ?? 'anything');
  return typeof format === 'string' ? `${name} (${format})` : name;
}

const boundWords = {
  minimum: 'from',
  maximum: 'to',
  minLength: 'at least',
  maxLength: 'at most',
  default: 'default',
  pattern: 'pattern',
};

function bounds(schema: JsonSchema): string {
  const texts = Object.entries(boundWords)
    .filter(([keyword]) => schema[keyword] !== undefined)
    .map(([keyword, word]) => `${word} <code>${escapeHtml(String(schema[keyword]))}</code>`);
  return texts.length > 0 ? ` <small>${texts.join(', ')}</small>` : '';
}

function table(heads: readonly string[], rows: readonly string[][]): string {
  const head = heads.map((text) => `<th>${text}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return `<table><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table>`;
}

function listLink(anchor: string, text: string): string {
  return `<li><a href="#${escapeHtml(anchor)}">${escapeHtml(text)}</a></li>`;
}

function schemaAnchor(name: string): string {
  return `schema-${escapeHtml(name)}`;
}

/** Returns paragraphs, with `code` as the only markup. */
function prose(text: string): string {
  const paragraphs = text.split('\n\n').filter((paragraph) => paragraph !== '');
  return paragraphs.map((paragraph) => `<p>${inline(paragraph)}</p>`).join('');
}

function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}
