// Sections of the reference: an operation with the curl command beside the heading, an event with
// an example of the payload, or a named schema.
import { escapeHtml } from '../../../src/platform/net/escape-html.ts';
import { curlOf } from './curl.ts';
import { drawFields, fieldRows, referredName, type SchemaLink, typeText } from './docs-fields.ts';
import { inline, prose, table } from './docs-page.ts';
import type { OpenApiDocument, Operation, Parameter } from './openapi.ts';
import type { JsonSchema } from './openapi-schemas.ts';

/** Argument of the functions that draw a section. */
export interface Drawing {
  document: OpenApiDocument;
  linkOf: SchemaLink;
  /** Time in ms since 1970: curl commands schedule for a time after it. */
  now: number;
}

export interface DocumentedOperation {
  path: string;
  method: string;
  operation: Operation;
}

/** Returns the operations of a document, in its order. */
export function operationsOf({ paths }: OpenApiDocument): DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** Returns the operations of an area, in the order of the document. */
export function operationsOn(document: OpenApiDocument, area: string): DocumentedOperation[] {
  return operationsOf(document).filter(({ operation }) => operation.tags[0] === area);
}

/** Draws an operation: command, parameters, body and answers. */
export function drawOperation(entry: DocumentedOperation, drawing: Drawing): string {
  const { document, linkOf, now } = drawing;
  const { path, method, operation } = entry;
  const body = operation.requestBody;
  const [schema] = Object.values(body?.content ?? {}).map((content) => content.schema);
  const types = Object.keys(body?.content ?? {});
  const isJson = types.includes('application/json');
  const fields = schema && drawBody(schema, body?.required === true, drawing);
  return `<section id="${escapeHtml(operation.operationId)}">
<div><h3>${escapeHtml(operation.summary)}</h3><p><code>${method.toUpperCase()} ${escapeHtml(path)}</code></p>
</div><pre>${escapeHtml(curlOf(entry, document, now))}</pre>
<div>${prose(operation.description)}${drawParameters(operation.parameters ?? [], linkOf)}
${fields ?? ''}${types.length > 0 && !isJson ? prose(`As ${codes(types)}`) : ''}
<h4>Answers</h4>${drawAnswers(operation, drawing)}</div></section>`;
}

/** Draws the fields of a body in place, the fields of a named schema too. */
function drawBody(schema: JsonSchema, isRequired: boolean, { document, linkOf }: Drawing): string {
  const heading = `<h4>Body${isRequired ? '' : ' (optional)'}</h4>`;
  const named = componentOf(schema, document);
  const items = componentOf((named.items ?? {}) as JsonSchema, document);
  const isList = items.properties !== undefined;
  const rows = isList ? fieldRows(items, '0.', linkOf) : fieldRows(named, '', linkOf);
  const isPlain = schema === named && !isList && rows.length > 0;
  const type = isPlain ? '' : `<p>${typeText(schema, linkOf)}</p>`;
  return heading + type + (rows.length > 0 ? table(['Field', 'Type', ''], rows) : '');
}

/** Returns the component that a schema refers to, or the schema itself. */
function componentOf(schema: JsonSchema, { components }: OpenApiDocument): JsonSchema {
  return components.schemas[referredName(schema) ?? ''] ?? schema;
}

function codes(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(' or ');
}

function drawParameters(parameters: readonly Parameter[], linkOf: SchemaLink): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(({ name, in: place, required, description, schema }) => [
    `<code>${escapeHtml(name)}</code><br><small>${place}${required ? ', required' : ''}</small>`,
    typeText(schema, linkOf),
    inline(description ?? ''),
  ]);
  return `<h4>Parameters</h4>${table(['Name', 'Type', ''], rows)}`;
}

/** Draws the answers, with the errors in a folded part. */
function drawAnswers(operation: Operation, { document, linkOf }: Drawing): string {
  const { responses } = document.components;
  const rows = Object.entries(operation.responses).map(([status, given]) => {
    const answer = responses[given.$ref?.split('/').at(-1) ?? ''] ?? given;
    const { content = {} } = answer;
    const schema = content['application/json']?.schema;
    const type = schema ? typeText(schema, linkOf) : inline(codes(Object.keys(content)));
    return { status, cells: [status, type, inline(answer.description ?? '')], schema };
  });
  const heads = ['Status', 'Body', ''];
  const errors = rows.filter(({ status }) => status >= '400');
  const successes = rows.filter(({ status }) => status < '400');
  const statuses = errors.map(({ status }) => status).join(', ');
  const cellsOf = (list: typeof rows) => list.map(({ cells }) => cells);
  const fields = successes.map(({ schema = {} }) => fieldRows(schema, '', linkOf));
  const own = fields.map((list) => (list.length > 0 ? table(['Field', 'Type', ''], list) : ''));
  return `${table(heads, cellsOf(successes))}${own.join('')}
<details><summary>Errors: ${statuses}</summary>${table(heads, cellsOf(errors))}</details>`;
}

/** Draws a kind of event: the fields of its payload, and an example. */
export function drawEvent(kind: string, { document, linkOf }: Drawing): string {
  const post = document.webhooks[kind]?.post;
  if (!post) return '';
  const { schema, example } = post.requestBody.content['application/json'];
  return `<section id="${eventAnchor(kind)}"><div><h3><code>${escapeHtml(kind)}</code></h3>
${prose(post.summary)}</div><pre>${escapeHtml(JSON.stringify(example, null, 2))}</pre>
<div>${drawFields(schema, linkOf)}</div></section>`;
}

export function drawSchema(name: string, schema: JsonSchema, linkOf: SchemaLink): string {
  const words = typeof schema.description === 'string' ? schema.description : '';
  return `<section id="${schemaAnchor(name)}"><h3>${escapeHtml(name)}</h3>
${prose(words)}${drawFields(schema, linkOf)}</section>`;
}

export function schemaAnchor(name: string): string {
  return `schema-${escapeHtml(name)}`;
}

export function eventAnchor(kind: string): string {
  return `event-${escapeHtml(kind)}`;
}
