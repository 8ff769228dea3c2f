// The client of the API: `new Svc({ url, key })` has a method for each operation, such as
// `svc.messages.send`. The methods are made from the routes of the service (operations.js,
// index.d.ts: `npm run client`).
import { patient } from './expect.js';
import { Http, readJson } from './http.js';
import { operations, streams } from './operations.js';
import { follow } from './stream.js';

export { SvcError } from './http.js';
export { verifyWebhook } from './webhooks.js';

/** A list. Awaiting it returns the first page; `for await` yields the items of all pages. */
class List {
  constructor(ask, query, pagesBy) {
    this.ask = ask;
    this.query = query;
    this.pagesBy = pagesBy;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a list gives its first page
  then(resolve, reject) {
    return this.ask(this.query).then(resolve, reject);
  }

  async *pages() {
    let query = this.query;
    for (;;) {
      const page = await this.ask(query);
      yield page;
      const next = nextOf(page, this.pagesBy);
      if (next === null) return;
      query = { ...this.query, ...next };
    }
  }

  async *[Symbol.asyncIterator]() {
    for await (const { items } of this.pages()) yield* items;
  }
}

function nextOf({ nextCursor, pagination }, pagesBy) {
  if (typeof nextCursor === 'string') return { cursor: nextCursor };
  if (pagesBy !== 'page' || !pagination || pagination.page >= pagination.totalPages) return null;
  return { page: pagination.page + 1 };
}

/** Fills the parameters of a path. Each value is escaped, so that it stays a single segment. */
function filled(path, args) {
  return path.replace(/\{(\w+)\}/g, (_, name) => {
    const value = args.shift();
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new TypeError(`${name}: expected an id`);
    const text = String(value);
    if (text === '' || text === '.' || text === '..')
      throw new TypeError(`${name}: ${text} is no id`);
    return encodeURIComponent(text);
  });
}

/** Returns the client's method for an operation. */
function methodOf(http, { method, path, body, query, takesKey, pagesBy, answer }) {
  return (...given) => {
    const args = [...given];
    const target = filled(path, args);
    const content = body === null ? undefined : args.shift();
    const asked = query ? args.shift() : undefined;
    const { idempotencyKey, ...options } = args.shift() ?? {};
    // All tries share a key, so that a repeat creates nothing twice. A dry run creates nothing.
    const isDry = [content?.dryRun, asked?.dryRun].some((value) => String(value) === 'true');
    const key =
      takesKey && !isDry
        ? (idempotencyKey ?? content?.idempotencyKey ?? crypto.randomUUID())
        : undefined;
    const isJson = body === 'application/json';
    const headers = {
      ...(key !== undefined && { 'idempotency-key': key }),
      // A Blob of the caller knows its type.
      ...(content !== undefined && { 'content-type': (!isJson && content.type) || body }),
    };
    const send = (search) =>
      http.ask(
        {
          ...{ method, path: target, query: search, headers },
          body: content === undefined || !isJson ? content : JSON.stringify(content),
          // A POST that takes no key changes nothing, so it may be repeated.
          isSafe: ['GET', 'DELETE', 'POST'].includes(method),
        },
        options,
      );
    if (pagesBy !== null)
      return new List(async (search) => readJson(await send(search)), asked, pagesBy);
    return answer === 'json' ? send(asked).then(readJson) : send(asked);
  };
}

export class Svc {
  /** @throws TypeError without an address or a key */
  constructor(options) {
    const { url, key } = options ?? {};
    if (typeof url !== 'string' || !parses(url)) {
      throw new TypeError('url: expected the address of the API');
    }
    if (typeof key !== 'string' || key === '') throw new TypeError('key: expected an API key');
    const http = new Http(options);
    for (const operation of operations) {
      this[operation.resource] ??= {};
      this[operation.resource][operation.verb] = methodOf(http, operation);
    }
    this.messages.expect = patient(this.messages.expect, http.options);
    for (const { resource, verb, path } of streams) {
      this[resource] ??= {};
      this[resource][verb] = (...given) => {
        const args = [...given];
        const target = filled(path, args);
        const { query, ...rest } = args.shift() ?? {};
        return follow(http, { path: target, query }, rest);
      };
    }
  }
}

function parses(url) {
  try {
    return Boolean(new URL(url));
  } catch {
    return false;
  }
}
