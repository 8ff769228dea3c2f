// The tools of MCP, made from the routes. Name, description and schema come from the operation. A
// tool takes the fields of path, query and body side by side. A body that is a list, or that shares
// a name with the path, is the single field `body`. Every tool calls the mailbox `mailboxId`, even
// if the path has `{id}`.
import { refusedAtPlace } from '../../src/access/keys/constraints.ts';
import { mailboxRight, refusedRight } from '../../src/access/keys/send-checks.ts';
import { operationNames, snakeName } from '../../src/core/api/operation-name.ts';
import type { Caller, Route } from '../../src/core/api/route.ts';
import { requestSchemas } from '../../src/core/api/validate.ts';
import type { Input } from '../../src/service/door/door.ts';
import { type JsonSchema, ownSchemaOf } from '../http/openapi/openapi-schemas.ts';
import { routes } from '../http/routes.ts';

export interface Tool {
  name: string;
  description: string;
  inputSchema: JsonSchema & { type: 'object' };
  isRead: boolean;
  route: Route;
  /** Parameter that selects the page of a list; null for a tool that returns no list. */
  pagesBy: 'cursor' | 'page' | null;
  /** Names of the tool's fields by part of the request. `whole`: the field `body` is the body. */
  fields: { path: string[]; query: string[]; headers: string[]; body: string[] | 'whole' | null };
}

/** Schema of the field that replaces the API's paging fields. */
const cursorField = {
  type: 'string',
  maxLength: 500,
  description: '`nextCursor` of the part before',
};

/** Tells whether an operation is reserved for people: a decision, or the management of members. */
function isForPeople({ decides, permission }: Route): boolean {
  return decides === true || permission.startsWith('members:');
}

let made: readonly Tool[] | undefined;

/**
 * Returns a tool for each route, in order. Leaves out streams, waits, deprecated routes and routes
 * that are reserved for people.
 */
export function allTools(): readonly Tool[] {
  made ??= [...operationNames(routes)].flatMap(([route, name]) =>
    route.takes || route.streams || route.waits || route.deprecated || isForPeople(route)
      ? []
      : [toolOf(route, snakeName(name))],
  );
  return made;
}

/**
 * Returns whether the permissions and constraints of a key allow a tool for at least a single
 * resource.
 */
export function mayUse(caller: Caller, { route }: Pick<Tool, 'route'>): boolean {
  const { method, path, permission } = route;
  const id = caller.constraints?.mailboxIds?.[0] ?? '';
  if (refusedAtPlace(caller, permission, { method, path, id }) === null) return true;
  return route.mailboxOf !== undefined && refusedRight(caller, mailboxRight(id)) === null;
}

/**
 * Returns the parts of the request from the arguments, not yet parsed. @throws TypeError naming an
 * unknown or missing field
 */
export function inputOf({ fields, route }: Tool, given: object): Input {
  const args = new Map(Object.entries(given));
  const take = (names: readonly string[]) =>
    names.flatMap((name) => {
      const value: unknown = args.get(name);
      args.delete(name);
      return value === undefined ? [] : [[name, value] as const];
    });
  // Converts values to texts, as in a URL.
  const texts = (names: readonly string[]) =>
    take(names).map(
      ([name, value]) => [name, Array.isArray(value) ? value.map(textOf) : textOf(value)] as const,
    );
  const inPath = new Map(texts(fields.path));
  const query = Object.fromEntries(texts(fields.query));
  const headers = Object.fromEntries(
    take(fields.headers).map(([name, value]) => [headerOf(name), textOf(value)]),
  );
  const body = fields.body === 'whole' ? args.get('body') : bodyOf(fields.body, take);
  args.delete('body');
  const [unknown] = args.keys();
  if (unknown !== undefined) throw new TypeError(unknownWords(fields.path, unknown));
  const missing = fields.path.find((name) => !inPath.has(name));
  if (missing !== undefined) throw new TypeError(`${missing}: missing`);
  const params = Object.fromEntries(
    [...inPath].map(([name, value]) => [paramOf(route, name), value]),
  );
  return { params, query, headers, body };
}

const mailboxField = 'mailboxId';

/** Returns the parameter of the path that a field of the tool fills. */
function paramOf({ path }: Route, field: string): string {
  return field === mailboxField && path.startsWith('/v1/mailboxes/{id}') ? 'id' : field;
}

function unknownWords(fields: readonly string[], unknown: string): string {
  const isMailbox = unknown === 'id' && fields.includes(mailboxField);
  const hint = isMailbox ? `: the mailbox is ${mailboxField}` : '';
  return `${unknown}: unknown field of this tool${hint}`;
}

type Take = (names: readonly string[]) => (readonly [string, unknown])[];

function bodyOf(names: readonly string[] | null, take: Take): object | undefined {
  if (names === null) return undefined;
  return Object.fromEntries(take(names));
}

function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** Returns the header of a field: `idempotencyKey` becomes `idempotency-key`. */
function headerOf(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function fieldOf(header: string): string {
  return header.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function toolOf(route: Route, name: string): Tool {
  const { path, query } = requestSchemas(route);
  const parts = {
    path: withMailbox(route, ownSchemaOf(path)),
    query: ownSchemaOf(query),
    headers: route.headers ? renamed(ownSchemaOf(route.headers)) : {},
  };
  const body = route.body && ownSchemaOf(route.body);
  const outer = Object.values(parts).flatMap((part) => Object.keys(propertiesOf(part)));
  const ofBody = body && Object.keys(propertiesOf(body));
  const isSpread =
    ofBody !== undefined && ofBody.length > 0 && !ofBody.some((one) => outer.includes(one));
  const inBody = isSpread ? body : body && { properties: { body }, required: bodyRequired(route) };
  const all = [...Object.values(parts), ...(inBody ? [inBody] : [])];
  const queryNames = Object.keys(propertiesOf(parts.query));
  const pagesBy = pagingOf(route, queryNames);
  const properties = Object.assign(
    {},
    ...all.map(propertiesOf),
    pagesBy && { cursor: cursorField },
  );
  if (pagesBy === 'page') delete properties.page;
  const required = all.flatMap((part) => (part.required as string[] | undefined) ?? []);
  const $defs = Object.assign({}, ...all.map((part) => part.$defs), body?.$defs);
  return {
    name,
    description: [route.summary, route.description].filter(Boolean).join('. '),
    inputSchema: {
      type: 'object',
      properties,
      additionalProperties: false,
      ...(required.length > 0 && { required }),
      ...(Object.keys($defs).length > 0 && { $defs }),
    },
    isRead: route.permission.endsWith(':read'),
    route,
    pagesBy,
    fields: {
      path: Object.keys(propertiesOf(parts.path)),
      query: queryNames,
      headers: Object.keys(propertiesOf(parts.headers)),
      body: isSpread ? (ofBody ?? []) : body ? 'whole' : null,
    },
  };
}

function bodyRequired({ bodyOptional }: Route): string[] {
  return bodyOptional ? [] : ['body'];
}

function pagingOf({ method }: Route, query: readonly string[]): Tool['pagesBy'] {
  if (method !== 'GET') return null;
  if (query.includes('cursor')) return 'cursor';
  return query.includes('page') ? 'page' : null;
}

function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  return (schema.properties ?? {}) as Record<string, JsonSchema>;
}

/** Renames the parameter of the mailbox to `mailboxId`, as results of other tools call it. */
function withMailbox(route: Route, schema: JsonSchema): JsonSchema {
  const fieldName = (name: string) => (paramOf(route, mailboxField) === name ? mailboxField : name);
  const entries = Object.entries(propertiesOf(schema));
  return {
    ...schema,
    properties: Object.fromEntries(entries.map(([name, value]) => [fieldName(name), value])),
    required: ((schema.required ?? []) as string[]).map(fieldName),
  };
}

function renamed(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(propertiesOf(schema));
  return {
    properties: Object.fromEntries(entries.map(([name, value]) => [fieldOf(name), value])),
  };
}
