// A session with a server: each route is asked over HTTP by the client of client/. Loaded only with
// `--server`, as the client knows all operations.
import { Svc } from '../../../client/index.js';
import type { Doorway } from '../../../src/core/api/route.ts';
import type { Input, Session } from '../asking.ts';
import { type FindIds, wholeInput } from '../input/whole-id.ts';
import type { Page } from '../items.ts';
import { idsInLists } from './ids.ts';
import { asRefusal } from './refusal.ts';
import { type Server, withoutRoute } from './server.ts';

/** An operation of the client (client/operations.js). */
interface Operation {
  resource: string;
  verb: string;
  method: string;
  path: string;
  body: string | null;
  query: boolean;
}

type Methods = Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>;

const operationsFile = new URL('../../../client/operations.js', import.meta.url).href;

/** Retries of a failed request: few, because a person waits for the answer. */
const retries = 2;

/** Opens a session with a server. It connects with the first request. */
export async function openServer({ url, key }: Server): Promise<Session> {
  const { operations } = (await import(operationsFile)) as { operations: readonly Operation[] };
  const client = new Svc({ url, key, retries });
  /** Calls the method of the client for an operation. */
  const call = async (named: Pick<Doorway, 'method' | 'path' | 'name'>, input: Input) => {
    const operation = operations.find(
      ({ method, path }) => method === named.method && path === named.path,
    );
    const { resource = '', verb = '' } = operation ?? {};
    const method = (client as unknown as Methods)[resource]?.[verb];
    if (!operation || !method) throw withoutRoute(named.name, url);
    try {
      return await method(...argumentsOf(operation, input));
    } catch (error) {
      throw asRefusal(error, url);
    }
  };
  const readList = (path: string, query: object) =>
    call({ method: 'GET', path, name: path }, { query }) as Promise<Page<{ id: string }>>;
  const findIds: FindIds = (kind, ending) => idsInLists(readList, kind, ending);
  return {
    async ask<Answer>(route: Doorway<Answer>, input: Input = {}) {
      const whole = await wholeInput(findIds, route, input);
      return (await call(route, { ...input, ...whole })) as Answer;
    },
    findIds,
    now: Date.now,
    local: null,
    server: { url, key, client },
  };
}

/**
 * Returns the arguments of a method of the client: the parameters of the path, the body, the query,
 * the options.
 */
function argumentsOf(operation: Operation, { params, query, headers, body }: Input): unknown[] {
  const values = { ...params } as Record<string, unknown>;
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const { 'idempotency-key': idempotencyKey } = { ...headers } as Record<string, unknown>;
  return [
    ...names.map((name) => values[name]),
    ...(operation.body === null ? [] : [body]),
    ...(operation.query ? [query] : []),
    idempotencyKey === undefined ? {} : { idempotencyKey },
  ];
}
