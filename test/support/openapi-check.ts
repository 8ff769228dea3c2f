// Checks every answer of the HTTP face against the schema of the route and the OpenAPI document.
// Pass `onResponse` to createHttpServer: an answer that does not fit becomes a 500 with the reason.
import { isDeepStrictEqual } from 'node:util';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { type OpenApiDocument, openApiDocument } from '../../daemon/http/openapi/openapi.ts';
import type { Exchange } from '../../daemon/http/server.ts';
import type { Route } from '../../src/core/api/route.ts';
import { InternalError } from '../../src/platform/errors.ts';

export interface OpenApiCheck {
  /** Throws InternalError naming the route, the status and the mismatch. */
  onResponse(exchange: Exchange): void;
  /** All faults found, for an assertion that there were none. */
  readonly faults: string[];
}

const documentId = 'openapi';

/** The document of some routes, and the compiler of its schemas. */
interface Described {
  routes: readonly Route[];
  document: OpenApiDocument;
  ajv: Ajv2020;
}

/** Documents by their first route, as making a document takes longer than most tests. */
const described = new WeakMap<Route, Described[]>();

function describedOf(routes: readonly Route[]): Described {
  const [first] = routes;
  const known = (first && described.get(first)) ?? [];
  const isSame = ({ routes: its }: Described) =>
    its.length === routes.length && its.every((one, index) => one === routes[index]);
  const found = known.find(isSame);
  if (found) return found;
  const made = describe(routes);
  if (first) described.set(first, [...known, made]);
  return made;
}

function describe(routes: readonly Route[]): Described {
  const document = openApiDocument(routes, '/');
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema({ $id: documentId, ...document });
  return { routes, document, ajv };
}

/** Makes a check against the document of these routes. */
export function openApiCheck(routes: readonly Route[]): OpenApiCheck {
  const { document, ajv } = describedOf(routes);
  const faults: string[] = [];
  return {
    faults,
    onResponse(exchange) {
      if (exchange.method === 'HEAD') return;
      const found = faultOf(exchange, document, ajv);
      if (found === null) return;
      const fault = `${exchange.method} ${exchange.url} ${exchange.status}: ${found}`;
      faults.push(fault);
      throw new InternalError(fault);
    },
  };
}

function faultOf(exchange: Exchange, document: OpenApiDocument, ajv: Ajv2020): string | null {
  const { route, status, headers, body } = exchange;
  if (typeof headers['x-request-id'] !== 'string') return 'X-Request-Id is missing';
  if (!route) return status >= 400 && isJson(headers) ? tagFault(JSON.parse(body), ajv) : null;
  const schema = schemaPointer(document, route, status);
  if (schema === null) return 'the document does not declare this status';
  // Separate tests check the text of streams.
  if (route.streams && status === route.status) {
    const [type = ''] = String(headers['content-type']).split(';');
    return route.streams.includes(type) ? null : `streams ${type}`;
  }
  // Separate tests check the bytes of files.
  const isCsv = `${headers['content-type']}`.startsWith('text/csv');
  if (route.writesCsv && status === route.status && isCsv) return null;
  if (route.sendsFile && status === route.status) return isJson(headers) ? 'is no file' : null;
  const value: unknown = JSON.parse(body);
  const validate = ajv.getSchema(schema);
  if (!validate) throw new Error(`no schema at ${schema}`);
  return ajvFault(validate, value) ?? (status === route.status ? outputFault(route, value) : null);
}

function isJson(headers: Exchange['headers']): boolean {
  return String(headers['content-type']).startsWith('application/json');
}

/** Checks an error outside of any route against the schema of its `_tag`. */
function tagFault(value: unknown, ajv: Ajv2020): string | null {
  const { _tag: tag } = value as { _tag?: unknown };
  // `/readyz` answers 503 with a state, not an error.
  if (tag === undefined && 'store' in (value as object)) return null;
  const validate = ajv.getSchema(`${documentId}#/components/schemas/${String(tag)}`);
  return validate ? ajvFault(validate, value) : `unknown error tag ${String(tag)}`;
}

function ajvFault(validate: ValidateFunction, value: unknown): string | null {
  if (validate(value)) return null;
  const texts = (validate.errors ?? []).map(({ instancePath, message }) => {
    return `${instancePath || '(body)'} ${message}`;
  });
  return `differs from the document: ${texts.slice(0, 5).join('; ')}`;
}

/** Checks that the schema of the route keeps the whole answer: a dropped field is undocumented. */
function outputFault(route: Route, value: unknown): string | null {
  const result = route.output.safeParse(value);
  if (!result.success) return `differs from the route's schema: ${result.error.message}`;
  return isDeepStrictEqual(result.data, value)
    ? null
    : `has fields that the schema does not name: ${JSON.stringify(value)}`;
}

function schemaPointer(document: OpenApiDocument, route: Route, status: number): string | null {
  const method = route.method.toLowerCase();
  const response = document.paths[route.path]?.[method]?.responses[status];
  if (!response) return null;
  const inPath = route.path.replaceAll('~', '~0').replaceAll('/', '~1');
  const place = response.$ref?.slice(1) ?? `/paths/${inPath}/${method}/responses/${status}`;
  return `${documentId}#${encodeURI(`${place}/content/application~1json/schema`)}`;
}
