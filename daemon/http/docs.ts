// The API reference: one static page made from the OpenAPI document. No script, no external asset, printable,
// and as wide as its window from 320 px on; a library for this would bring megabytes. documents.ts serves it.

import { escapeHtml } from '../../src/platform/net/escape-html.ts';
import { curlOf } from './curl.ts';
import type { OpenApiDocument, Operation, Parameter } from './openapi.ts';
import type { JsonSchema } from './openapi-schemas.ts';

const deepestFields = 6;
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

/**
 * Returns the page as HTML. All content of the document is escaped.
 * @param now ms since 1970: curl commands schedule for a time after it
 */
export function docsPage(document: OpenApiDocument, now: number): string {
  const { info, servers, tags, paths, components } = document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const inTag = (tag: string) => operations.filter(({ operation }) => operation.tags[0] === tag);
  const server = servers[0]?.url ?? '';
  const navigation = tags.map(({ name }) => {
    const links = inTag(name).map(({ operation }) =>
      listLink(operation.operationId, operation.summary),
    );
    return `<h4>${escapeHtml(name)}</h4><ul>${links.join('')}</ul>`;
  });
  const schemaNames = Object.keys(components.schemas).sort((a, b) => a.localeCompare(b, 'en'));
  const body = tags.map(({ name, description = '' }) => {
    const drawn = inTag(name).map((entry) => drawOperation(entry, document, now));
    return `<h2>${escapeHtml(name)}</h2>${prose(description)}${drawn.join('')}`;
  });
  const schemas = schemaNames.map((name) => drawSchema(name, components.schemas[name] ?? {}));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)} API ${escapeHtml(info.version)}</title>
<link rel="icon" href="data:,"><style>${docsStyle}</style></head>
<body><nav><h3>${escapeHtml(info.title)} API</h3>
<input type="checkbox" id="menu"> <label for="menu">Contents</label>
<div><a href="/v1/openapi.json">openapi.json</a>
${navigation.join('\n')}
<h4>Schemas</h4><ul>${schemaNames.map((name) => listLink(schemaAnchor(name), name)).join('')}</ul>
</div></nav><main><h1>${escapeHtml(info.title)} API ${escapeHtml(info.version)}</h1>
${prose(info.description)}<p>Server: <code>${escapeHtml(server)}</code></p>
${prose(commandsNote)}
${body.join('\n')}
<h2>Schemas</h2>${schemas.join('\n')}
</main></body></html>
`;
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
${bodySchema ? `<h4>Body${body?.required ? '' : ' (optional)'}</h4>${drawFields(bodySchema)}` : ''}
${types.length > 0 ? `<h4>Body</h4>${prose(`A file: ${codes(types)}`)}` : ''}
<h4>Answers</h4>${drawAnswers(operation, document)}
<pre>${escapeHtml(curlOf(entry, document, now))}</pre></section>`;
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

function drawAnswers(operation: Operation, { components }: OpenApiDocument): string {
  const rows = Object.entries(operation.responses).map(([status, given]) => {
    const name = given.$ref?.split('/').at(-1) ?? '';
    const answer = components.responses[name] ?? given;
    const { content = {} } = answer;
    const schema = content['application/json']?.schema;
    const type = schema ? typeText(schema) : inline(codes(Object.keys(content)));
    return [status, type, inline(answer.description ?? '')];
  });
  return table(['Status', 'Body', ''], rows);
}

function drawSchema(name: string, schema: JsonSchema): string {
  return `<section id="${schemaAnchor(name)}"><h3>${escapeHtml(name)}</h3>
${prose(typeof schema.description === 'string' ? schema.description : '')}${drawFields(schema)}</section>`;
}

/** Returns a table of fields by dotted path; a schema of another type than object takes one line. */
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

/** Describes a schema in words, with links to named ones. */
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
