// The OpenAPI 3.1 document (specification 9.1), derived from the routes (their schemas, permissions
// and declared errors) and from plain-routes.ts. documents.ts serves it; docs.ts draws the page.
import type { z } from 'zod';
import { idempotencyHeader, takesKey } from '../../../src/core/api/idempotency.ts';
import type { Route } from '../../../src/core/api/route.ts';
import type { EventKind } from '../../../src/history/events/kinds.ts';
import { atOnce, type PartedWork } from '../../../src/platform/runtime/fairness/loop-turns.ts';
import {
  deprecationHeaders,
  errorResponse,
  errorSchemas,
  headerRefs,
  rateLimitHeaders,
  responseHeaders,
} from './openapi-errors.ts';
import { type JsonSchema, SchemaBook } from './openapi-schemas.ts';
import { type PlainPath, plainAreas, plainPaths } from './plain-routes.ts';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

/** Schemas by media type. */
export type Content = Record<string, { schema: JsonSchema }>;

export interface ResponseObject {
  $ref?: string;
  description?: string;
  headers?: JsonSchema;
  content?: Content;
}

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  deprecated?: true;
  tags: string[];
  /** Empty for an operation without a key. */
  security?: [];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, ResponseObject>;
}

interface WebhookOperation {
  operationId: string;
  summary: string;
  tags: string[];
  security: [];
  parameters: Parameter[];
  requestBody: {
    required: true;
    content: { 'application/json': { schema: JsonSchema; example: JsonSchema } };
  };
  responses: Record<string, ResponseObject>;
}

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: JsonSchema & { title: string; version: string; description: string };
  servers: { url: string; description: string }[];
  security: JsonSchema[];
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  /** Posts to webhook endpoints, by kind of event. */
  webhooks: Record<string, { post: WebhookOperation }>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, ResponseObject>;
    headers: Readonly<Record<string, JsonSchema>>;
    securitySchemes: JsonSchema;
  };
}

/** Error statuses that all routes have, besides `errors` of the route (src/core/api/route.ts). */
const commonErrors = [400, 401, 403, 404, 422, 429, 500, 503, 504];
const bodyErrors = [413, 415];

const info = {
  title: 'svc',
  version: '1.0.0',
  summary: 'Email delivery for developers',
  description:
    'Sends email and follows it. Bodies are JSON in UTF-8, times are ISO 8601 in UTC. Every request ' +
    'carries an API key in `X-API-Key`, or as `Authorization: Bearer`. Errors are flat objects told apart by `_tag`. Every 5xx is ' +
    'safe to repeat; repeat a send with the same `Idempotency-Key`.',
  license: { name: 'MIT', identifier: 'MIT' },
};

/** Returns the document of the given routes at once. @throws Error as `describeApi` */
export function openApiDocument(...parts: Parameters<typeof describeApi>): OpenApiDocument {
  return atOnce(describeApi(...parts));
}

/**
 * Makes the document of the given routes, route by route.
 * @param kinds of events, posted to webhook endpoints
 * @param serverUrl base URL of the routes, e.g. `https://mail.example.com`
 * @throws Error if a route has a schema that JSON Schema cannot express.
 */
export function* describeApi(
  routes: readonly Route[],
  serverUrl: string,
  kinds: readonly EventKind[] = [],
): PartedWork<OpenApiDocument> {
  const book = new SchemaBook();
  const responses: Record<string, ResponseObject> = {};
  const paths: OpenApiDocument['paths'] = {};
  for (const route of routes) {
    const operations = paths[route.path] ?? {};
    operations[route.method.toLowerCase()] = operationOf(route, book, responses);
    paths[route.path] = operations;
    yield;
  }
  for (const plain of plainPaths) {
    const operation = plainOperationOf(plain, book, responses);
    paths[plain.path] = { ...paths[plain.path], [plain.method.toLowerCase()]: operation };
  }
  const webhooks: OpenApiDocument['webhooks'] = {};
  for (const kind of kinds) {
    webhooks[kind.type] = { post: webhookOf(kind, book) };
    yield;
  }
  const isAnyDeprecated = routes.some(({ deprecated }) => deprecated);
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: serverUrl, description: 'This service' }],
    security: [{ ApiKeyAuth: [] }],
    tags: tagsOf(routes),
    paths,
    webhooks,
    components: {
      schemas: { ...book.components, ...errorSchemas },
      responses,
      headers: { ...responseHeaders, ...(isAnyDeprecated && deprecationHeaders) },
      securitySchemes: {
        ApiKeyAuth: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key' },
      },
    },
  };
}

/**
 * Describes a webhook in the form of Standard Webhooks: three headers, and a body with the event.
 */
function webhookOf(
  { type, summary, schema, sample }: EventKind,
  book: SchemaBook,
): WebhookOperation {
  const header = (name: string, description: string): Parameter => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  });
  const data = book.schemaOf(schema);
  const envelope = {
    type: 'object',
    properties: {
      type: { const: type, description: 'Kind of the event' },
      timestamp: {
        type: 'string',
        format: 'date-time',
        description: 'Time of the event, ISO 8601 in UTC',
      },
      organizationId: { type: 'string', description: 'Organization in which the event happened' },
      data: { description: 'The resource as of the event', ...data },
    },
    required: ['type', 'timestamp', 'organizationId', 'data'],
  };
  const timestamp = '2026-01-05T12:00:00.000Z';
  const organizationId = 'org_06dq2k0qz8h3v5m1r9t4w7xy';
  const example = { type, timestamp, organizationId, data: sample };
  return {
    operationId: `on.${type}`,
    summary,
    tags: ['events'],
    security: [],
    parameters: [
      header('webhook-id', 'Id of the event, the same in every attempt'),
      header('webhook-timestamp', 'Time of the signature of this attempt, in seconds since 1970'),
      header('webhook-signature', '`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`'),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: envelope, example } },
    },
    responses: { '2XX': { description: 'Accepted; any other status is tried again' } },
  };
}

function tagsOf(routes: readonly Route[]): OpenApiDocument['tags'] {
  const abouts = new Map<string, string>();
  for (const { area, about } of routes) if (about !== undefined) abouts.set(area, about);
  const names = [...routes, ...plainPaths].map(({ area }) => area);
  return [...new Set(names)].map((name) => {
    const description = abouts.get(name) ?? plainAreas.get(name);
    return { name, ...(description !== undefined && { description }) };
  });
}

function operationOf(
  route: Route,
  book: SchemaBook,
  responses: Record<string, ResponseObject>,
): Operation {
  const ownHeaders = takesKey(route) ? { headers: idempotencyHeader } : {};
  const parameters = parametersOf({ ...ownHeaders, ...route }, book);
  const words = [
    route.deprecated && `**Deprecated**: ${route.deprecated.replacement}`,
    route.description,
    `Permission: \`${route.permission}\`.`,
  ];
  return {
    operationId: route.name,
    summary: route.summary,
    description: words.filter((each) => each !== undefined).join('\n\n'),
    ...(route.deprecated && { deprecated: true as const }),
    tags: [route.area],
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: {
        required: route.bodyOptional !== true,
        content: { 'application/json': { schema: book.schemaOf(route.body) } },
      },
    }),
    ...(route.takes && {
      requestBody: { required: true, content: contentOfTypes(route.takes.types) },
    }),
    responses: responsesOf(route, book, responses),
  };
}

function plainOperationOf(
  plain: PlainPath,
  book: SchemaBook,
  shared: Record<string, ResponseObject>,
): Operation {
  const parameters = parametersOf(plain, book);
  const { permission, takes = [], form, answers } = plain;
  const responses: Operation['responses'] = {};
  for (const status of plain.errors) responses[status] = sharedError(status, false, shared);
  for (const [status, { description, types }] of Object.entries(answers)) {
    const content = types.length > 0 && { content: contentOfTypes(types) };
    responses[status] = { description, headers: headerRefs(['X-Request-Id']), ...content };
  }
  const needs = permission === undefined ? 'Needs no key.' : `Permission: \`${permission}\`.`;
  return {
    operationId: plain.name,
    summary: plain.summary,
    description: `${plain.description}\n\n${needs}`,
    tags: [plain.area],
    ...(permission === undefined && { security: [] as [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(takes.length > 0 && {
      requestBody: {
        required: true,
        content: form ? formOf(form, takes, book) : contentOfTypes(takes),
      },
    }),
    responses,
  };
}

function formOf(form: z.ZodType, types: readonly string[], book: SchemaBook): Content {
  return Object.fromEntries(types.map((type) => [type, { schema: book.schemaOf(form) }]));
}

/** Returns content of these media types, which no schema describes further. */
function contentOfTypes(types: readonly string[]): Content {
  const schemaOf = (type: string) => ({ type: type === 'application/json' ? 'object' : 'string' });
  return Object.fromEntries(types.map((type) => [type, { schema: schemaOf(type) }]));
}

function parametersOf(
  route: Pick<Route, 'params' | 'query' | 'headers'>,
  book: SchemaBook,
): Parameter[] {
  const places = [
    ['path', route.params],
    ['query', route.query],
    ['header', route.headers],
  ] as const;
  return places.flatMap(([place, schema]) => {
    if (!schema) return [];
    return book.fieldsOf(schema).map(({ name, required, schema: { description, ...rest } }) => ({
      name: place === 'header' ? headerName(name) : name,
      in: place,
      required: required || place === 'path',
      ...(typeof description === 'string' && { description }),
      schema: rest,
    }));
  });
}

/** Returns the usual spelling of a header, such as `Last-Event-ID` for `last-event-id`. */
function headerName(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase()).replace(/-Id$/, '-ID');
}

function deprecationHeaderNames({ deprecated }: Route): string[] {
  if (!deprecated) return [];
  return deprecated.sunset === undefined ? ['Deprecation'] : ['Deprecation', 'Sunset'];
}

/** Returns the success content of a route: JSON, a stream of text, or a file. */
function contentOf({ streams, sendsFile, output, writesCsv }: Route, book: SchemaBook): Content {
  if (streams) return contentOfTypes(streams);
  if (sendsFile) {
    return { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
  }
  const json = { 'application/json': { schema: book.schemaOf(output) } };
  return writesCsv ? { ...json, ...contentOfTypes(['text/csv']) } : json;
}

function responsesOf(
  route: Route,
  book: SchemaBook,
  shared: Record<string, ResponseObject>,
): Operation['responses'] {
  const answers: Operation['responses'] = {
    [route.status]: {
      description: route.status === 201 ? 'Created' : 'Done',
      headers: headerRefs([
        'X-Request-Id',
        ...(route.drawsOnSendRate ? rateLimitHeaders : []),
        ...(takesKey(route) ? ['Idempotency-Replayed'] : []),
        ...deprecationHeaderNames(route),
      ]),
      content: contentOf(route, book),
    },
  };
  if (route.dryRun) {
    const content = { 'application/json': { schema: book.schemaOf(route.dryRun.output) } };
    const description = 'Result of a dry run';
    answers[200] = { description, headers: headerRefs(['X-Request-Id']), content };
  }
  const takesBody = route.method !== 'GET';
  const statuses = [
    ...commonErrors,
    ...(takesBody ? bodyErrors : []),
    // 409 answers an idempotency key that was used with different content.
    ...(takesKey(route) ? [409] : []),
    ...(route.errors ?? []),
  ];
  for (const status of new Set(statuses.sort((a, b) => a - b))) {
    answers[status] = sharedError(status, route.drawsOnSendRate === true, shared);
  }
  return answers;
}

/** Adds the component of an error status, and returns a reference to it. */
function sharedError(
  status: number,
  isSend: boolean,
  shared: Record<string, ResponseObject>,
): ResponseObject {
  const { name, response } = errorResponse(status, isSend);
  shared[name] = response;
  return { $ref: `#/components/responses/${name}` };
}
