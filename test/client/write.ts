// `npm run client`: writes client/operations.js and the types beside it from the routes.
// test/client holds them equal.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventKinds } from '../../daemon/http/event-kinds.ts';
import { openApiDocument } from '../../daemon/http/openapi/openapi.ts';
import { routes } from '../../daemon/http/routes.ts';
import { takesKey } from '../../src/core/api/idempotency.ts';
import { operationNames } from '../../src/core/api/operation-name.ts';
import type { Route } from '../../src/core/api/route.ts';
import { repository } from '../support/cli.ts';

interface Schema {
  [keyword: string]: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
}

interface Operation {
  summary: string;
  description?: string;
  deprecated?: boolean;
  parameters?: {
    name: string;
    in: string;
    required: boolean;
    description?: string;
    schema: Schema;
  }[];
  requestBody?: { required?: boolean; content: Record<string, { schema?: Schema }> };
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, Schema> };
}

const document = openApiDocument(routes, '/', eventKinds) as unknown as Document;
const names = operationNames(routes);

/** Streams of events, which are no routes. */
const streams = [
  { resource: 'events', verb: 'stream', path: '/v1/events/stream' },
  { resource: 'mailboxes', verb: 'streamEvents', path: '/v1/mailboxes/{id}/events/stream' },
];

/** Schemas of the document that have a closer type here. */
const eventName = 'Event';

function referredName(ref: unknown): string {
  return String(ref).split('/').at(-1)?.replaceAll(/\W/g, '') ?? '';
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ') || 'unknown';
}

/** Writes a schema as a type. */
function typeOf(schema: Schema | undefined): string {
  if (!schema) return 'unknown';
  const { $ref, const: constant, enum: values, anyOf, oneOf, allOf, type } = schema;
  if ($ref !== undefined) return referredName($ref);
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(values)) return union(values.map((one) => JSON.stringify(one)));
  const either = (anyOf ?? oneOf) as Schema[] | undefined;
  if (either) return union(either.map((one) => aliveType(one, either)));
  if (Array.isArray(allOf)) return (allOf as Schema[]).map((one) => `(${typeOf(one)})`).join(' & ');
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one })));
  return plainType(schema);
}

function resolved(schema: Schema): Schema {
  const name =
    String(schema.$ref ?? '')
      .split('/')
      .at(-1) ?? '';
  return document.components.schemas[name] ?? schema;
}

/** Writes a member of a union. A member beside a deleted resource says that it is not deleted. */
function aliveType(schema: Schema, union: Schema[]): string {
  const isDeleted = (one: Schema) => resolved(one).properties?.deleted?.const === true;
  const isAlive = union.some(isDeleted) && !isDeleted(schema);
  return isAlive ? `(${typeOf(schema)} & { deleted?: false })` : typeOf(schema);
}

function plainType(schema: Schema): string {
  switch (schema.type) {
    case 'object':
      return objectType(schema);
    case 'array':
      return `Array<${typeOf(schema.items as Schema | undefined)}>`;
    case 'integer':
      return 'number';
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return schema.type;
    default:
      return schema.properties ? objectType(schema) : 'unknown';
  }
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(([name, field]) => {
    const mark = required.includes(name) ? '' : '?';
    return `${comment(field.description)}${propertyName(name)}${mark}: ${typeOf(field)};`;
  });
  const isOpen = typeof additionalProperties === 'object';
  if (isOpen) fields.push(`[name: string]: ${typeOf(additionalProperties as Schema)};`);
  if (fields.length === 0) return 'Record<string, unknown>';
  return `{\n${fields.join('\n')}\n}`;
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function comment(text: unknown): string {
  return typeof text === 'string'
    ? `/** ${text.replaceAll('*/', '*').replaceAll(/\s+/g, ' ')} */\n`
    : '';
}

interface Described {
  route: Route;
  resource: string;
  verb: string;
  operation: Operation;
  queries: NonNullable<Operation['parameters']>;
  pagesBy: 'cursor' | 'page' | null;
  bodyType: string | null;
  answer: 'json' | 'response';
}

function described(): Described[] {
  return [...names].map(([route, { resource, verb }]) => {
    const operation = document.paths[route.path]?.[route.method.toLowerCase()];
    if (!operation) throw new Error(`${route.name} is not in the document`);
    const queries = (operation.parameters ?? []).filter((one) => one.in === 'query');
    const by = (name: string) => queries.some((one) => one.name === name);
    const isList = route.method === 'GET' && outputOf(operation)?.includes('items');
    const [bodyType = null] = Object.keys(operation.requestBody?.content ?? {});
    return {
      ...{ route, resource, verb, operation, queries, bodyType },
      pagesBy: isList ? (by('cursor') ? 'cursor' : by('page') ? 'page' : null) : null,
      answer: route.streams || route.sendsFile ? 'response' : 'json',
    };
  });
}

/** Returns the query of a stream. */
function streamOf({ resource, verb, path }: (typeof streams)[number]) {
  const queries = document.paths[path]?.get?.parameters ?? [];
  return { resource, verb, queries: queries.filter((one) => one.in === 'query') };
}

function schemaOfAnswer({ responses }: Operation): Schema | undefined {
  const found = responses['201'] ?? responses['200'] ?? responses['202'];
  return found?.content?.['application/json']?.schema;
}

function outputOf(operation: Operation): string[] | undefined {
  const schema = schemaOfAnswer(operation);
  return schema && Object.keys(resolved(schema).properties ?? {});
}

/** Writes the table of operations. */
function operationsFile(): string {
  const rows = described().map(({ route, resource, verb, queries, bodyType, pagesBy, answer }) => {
    const row = {
      resource,
      verb,
      method: route.method,
      path: route.path,
      body: bodyType,
      query: queries.length > 0,
    };
    return `  ${JSON.stringify({ ...row, takesKey: takesKey(route), pagesBy, answer })},`;
  });
  const lines = streams.map((one) => `  ${JSON.stringify(one)},`);
  return [
    '// Written by `npm run client` from the routes. Do not edit.',
    '/** Each operation of the API. */',
    'export const operations = [',
    ...rows,
    '];',
    '/** Streams of events. */',
    'export const streams = [',
    ...lines,
    '];',
    '',
  ].join('\n');
}

/** Writes the signatures of a method: several if a dry run has an answer of its own. */
function signatures(described: Described): string[] {
  const { operation, bodyType, answer } = described;
  const body = bodyOf(operation, bodyType);
  const type = answer === 'response' ? 'Response' : typeOf(schemaOfAnswer(operation));
  const dry = dryAnswerOf(operation);
  if (dry === null || body === null) return [signature(described, body, type)];
  return [
    signature(described, `${body} & { dryRun: true }`, dry),
    signature(described, `${body} & { dryRun?: false }`, type),
    signature(described, body, `${type} | ${dry}`),
  ];
}

/** Returns the type of the answer to a dry run (200) of an operation that otherwise answers 201. */
function dryAnswerOf({ responses }: Operation): string | null {
  const schema = responses['200']?.content?.['application/json']?.schema;
  return schema && responses['201'] ? typeOf(schema) : null;
}

function signature(
  { route, resource, verb, operation, queries, pagesBy }: Described,
  body: string | null,
  type: string,
): string {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => `${name}: string`);
  const isOptional = operation.requestBody?.required !== true;
  const parameters = [
    ...inPath,
    ...(body === null ? [] : [`body${isOptional ? '?' : ''}: ${body}`]),
    ...(queries.length > 0
      ? [`query${isOptionalQuery(queries) ? '?' : ''}: ${queryName(resource, verb)}`]
      : []),
    `options?: ${takesKey(route) ? 'KeyedOptions' : 'RequestOptions'}`,
  ];
  const result = pagesBy ? `List<${type}>` : `Promise<${type}>`;
  return `(${parameters.join(', ')}): ${result}`;
}

/** Returns the name of the type of a query, such as `MessagesListQuery`. */
function queryName(resource: string, verb: string): string {
  return `${capital(resource)}${capital(verb)}Query`;
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function bodyOf(operation: Operation, bodyType: string | null): string | null {
  if (bodyType === null) return null;
  if (bodyType !== 'application/json') return 'RawBody';
  return typeOf(operation.requestBody?.content[bodyType]?.schema);
}

function isOptionalQuery(queries: Described['queries']): boolean {
  return queries.every(({ required }) => !required);
}

function queryType(queries: Described['queries']): string {
  const fields = queries.map(
    ({ name, required, description, schema }) =>
      `${comment(description)}${propertyName(name)}${required ? '' : '?'}: ${inQuery(schema)};`,
  );
  return `{\n${fields.join('\n')}\n}`;
}

/** Writes the type of a field of a query: a time may be a Date. */
function inQuery(schema: Schema): string {
  const isTime = JSON.stringify(schema).includes('"date-time"');
  return isTime ? `${typeOf(schema)} | Date` : typeOf(schema);
}

/** Writes the type of an event: `data` by `type`. */
function eventType(): string {
  const id = { type: 'string', description: 'The `webhook-id` of its deliveries' };
  const members = Object.values(document.webhooks).map(({ post }) => {
    const body = post.requestBody?.content['application/json']?.schema ?? {};
    const { properties, required = [] } = resolved(body);
    return typeOf({ ...body, properties: { id, ...properties }, required: ['id', ...required] });
  });
  return `/** An event, by \`type\`. */\nexport type ${eventName} = ${members.join(' | ')};`;
}

/** Writes the `_tag` of each error. */
function tagsType(): string {
  const tags = Object.values(document.components.schemas).flatMap(
    ({ properties }) => properties?._tag?.const ?? [],
  );
  return `/** Names of the errors of the API. */\nexport type ApiErrorTag = ${union(tags.map((one) => JSON.stringify(one)))};`;
}

/** Writes the types. */
function typesFile(): string {
  const schemas = Object.entries(document.components.schemas)
    .filter(([name]) => name !== eventName)
    .map(
      ([name, schema]) =>
        `${comment(schema.description)}export type ${referredName(name)} = ${typeOf(schema)};`,
    );
  const queries = [...described(), ...streams.map(streamOf)]
    .filter((one) => one.queries.length > 0)
    .map(
      ({ resource, verb, queries }) =>
        `export type ${queryName(resource, verb)} = ${queryType(queries)};`,
    );
  const byResource = Map.groupBy(described(), ({ resource }) => resource);
  const resources = [...byResource].map(([resource, all]) => {
    const methods = all.map((one) => {
      const words = [one.operation.summary, one.operation.description].filter(Boolean).join('. ');
      return signatures(one)
        .map((two) => `${comment(words)}${one.verb}${two};`)
        .join('\n');
    });
    const own = streams
      .filter((one) => one.resource === resource)
      .map(({ verb, path }) => {
        const id = path.includes('{id}') ? 'id: string, ' : '';
        return `/** Follows the events; continues after a cut. */\n${verb}(${id}options?: StreamOptions<${queryName(resource, verb)}>): AsyncIterable<${eventName}>;`;
      });
    return `readonly ${resource}: {\n${[...methods, ...own].join('\n')}\n};`;
  });
  return [
    '// Written by `npm run client` from the routes. Do not edit.',
    "import type { KeyedOptions, List, RawBody, RequestOptions, StreamOptions, SvcOptions } from './core.js';",
    "export * from './core.js';",
    ...schemas,
    ...queries,
    eventType(),
    tagsType(),
    '/**\n * Returns the event of a post whose signature is valid. `body` is the body as it came.\n * @throws SvcError `WebhookVerificationError`\n */',
    'export function verifyWebhook(body: string | Uint8Array, headers: Headers | Record<string, string | string[] | undefined>, secret: string | readonly string[], options?: { toleranceSeconds?: number; now?: number }): Promise<Event>;',
    `/** The client of the API. */\nexport class Svc {\nconstructor(options: SvcOptions);\n${resources.join('\n')}\n}`,
    '',
  ].join('\n');
}

/** The written files, by name. */
export const written: Readonly<Record<string, () => string>> = {
  'operations.js': operationsFile,
  'index.d.ts': typesFile,
};

/** Returns the text of a file, as biome formats it. */
export function formatted(name: string): string {
  const biome = join(repository, 'node_modules/.bin/biome');
  const args = ['check', '--write', `--stdin-file-path=${join(repository, 'client', name)}`];
  const input = written[name]?.() ?? '';
  return execFileSync(biome, args, { cwd: repository, input, encoding: 'utf8', maxBuffer: 1e8 });
}

if (process.argv[1] === import.meta.filename) {
  for (const name of Object.keys(written)) {
    writeFileSync(join(repository, 'client', name), formatted(name));
  }
}
