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
  if (either) return union(either.map(typeOf));
  if (Array.isArray(allOf)) return (allOf as Schema[]).map((one) => `(${typeOf(one)})`).join(' & ');
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one })));
  return plainType(schema);
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

function schemaOfAnswer({ responses }: Operation): Schema | undefined {
  const found = responses['201'] ?? responses['200'] ?? responses['202'];
  return found?.content?.['application/json']?.schema;
}

function outputOf(operation: Operation): string[] | undefined {
  const schema = schemaOfAnswer(operation);
  const whole = schema?.$ref
    ? document.components.schemas[String(schema.$ref).split('/').at(-1) ?? '']
    : schema;
  return Object.keys(whole?.properties ?? {});
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

function signature({ route, operation, queries, bodyType, pagesBy, answer }: Described): string {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => `${name}: string`);
  const isOptional = operation.requestBody?.required !== true;
  const body = bodyOf(operation, bodyType);
  const parameters = [
    ...inPath,
    ...(body === null ? [] : [`body${isOptional ? '?' : ''}: ${body}`]),
    ...(queries.length > 0
      ? [`query${isOptionalQuery(queries) ? '?' : ''}: ${queryType(queries)}`]
      : []),
    `options?: ${takesKey(route) ? 'KeyedOptions' : 'RequestOptions'}`,
  ];
  const type = answer === 'response' ? 'Response' : typeOf(schemaOfAnswer(operation));
  const result = pagesBy ? `List<${type}>` : `Promise<${type}>`;
  return `(${parameters.join(', ')}): ${result}`;
}

function bodyOf(operation: Operation, bodyType: string | null): string | null {
  if (bodyType === null) return null;
  if (bodyType !== 'application/json') return 'BodyInit';
  return typeOf(operation.requestBody?.content[bodyType]?.schema);
}

function isOptionalQuery(queries: Described['queries']): boolean {
  return queries.every(({ required }) => !required);
}

function queryType(queries: Described['queries']): string {
  const fields = queries.map(
    ({ name, required, description, schema }) =>
      `${comment(description)}${propertyName(name)}${required ? '' : '?'}: ${typeOf(schema)};`,
  );
  return `{\n${fields.join('\n')}\n}`;
}

/** Writes the types. */
function typesFile(): string {
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `${comment(schema.description)}export type ${referredName(name)} = ${typeOf(schema)};`,
  );
  const byResource = Map.groupBy(described(), ({ resource }) => resource);
  const resources = [...byResource].map(([resource, all]) => {
    const methods = all.map((one) => {
      const words = [one.operation.summary, one.operation.description].filter(Boolean).join('. ');
      return `${comment(words)}${one.verb}${signature(one)};`;
    });
    const own = streams
      .filter((one) => one.resource === resource)
      .map(({ verb, path }) => {
        const id = path.includes('{id}') ? 'id: string, ' : '';
        return `/** Follows the events; goes on after a cut. */\n${verb}(${id}options?: StreamOptions): AsyncIterable<StreamedEvent>;`;
      });
    return `readonly ${resource}: {\n${[...methods, ...own].join('\n')}\n};`;
  });
  const events = Object.values(document.webhooks).map(({ post }) =>
    typeOf(post.requestBody?.content['application/json']?.schema),
  );
  return [
    '// Written by `npm run client` from the routes. Do not edit.',
    "import type { KeyedOptions, List, RequestOptions, StreamOptions, SvcOptions } from './core.js';",
    "export * from './core.js';",
    ...schemas,
    `/** The body of a post to a webhook, by \`type\`. */\nexport type WebhookEvent = ${events.join(' | ')};`,
    '/** An event of a stream, by `type`. */\nexport type StreamedEvent = WebhookEvent & { id: string };',
    '/**\n * Returns the event of a post whose signature is valid. `body` is the body as it came.\n * @throws SvcError `WebhookVerificationError`\n */',
    'export function verifyWebhook(body: string | Uint8Array, headers: Headers | Record<string, string | string[] | undefined>, secret: string | readonly string[], options?: { toleranceSeconds?: number; now?: number }): Promise<WebhookEvent>;',
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
