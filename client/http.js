// Requests of the client: retries, time-outs and errors. Plain JavaScript for Node 20 and newer,
// Deno, Bun and edge workers.

/** Messages of errors that the API sends without a message, with the same words as the commands. */
const messages = {
  ResourceNotFoundError: ({ resource, id, hint }) =>
    `${resource} ${id} was not found${hint === undefined ? '' : `: ${hint}`}`,
  PaymentRequiredError: ({ resource, currentUsage, limit }) =>
    `${resource}: ${currentUsage} of ${limit} used`,
  RateLimitedError: ({ operation, retryAfterSeconds }) =>
    `${operation}: rate limit exceeded, retry after ${retryAfterSeconds} s`,
};

function messageOf(fields) {
  const { _tag, message } = fields;
  return message ?? messages[_tag]?.(fields) ?? `The API answered ${_tag}`;
}

/**
 * An answer with status 400 or more, or no usable answer. `_tag` is from the API, or from the
 * client.
 */
export class SvcError extends Error {
  constructor(fields, { status = null, requestId = null, cause } = {}) {
    super(messageOf(fields), { cause });
    this.name = 'SvcError';
    Object.assign(this, fields);
    this.status = status;
    this.requestId = requestId;
  }
}

const retriable = new Set([429, 500, 502, 503, 504]);
/** Statuses of requests that the server did not begin, so that any method may be repeated. */
const notBegun = new Set([429, 503]);

const defaults = { retries: 3, timeoutMs: 60_000, maxDelayMs: 30_000 };

/** Sends requests to a server with an API key. */
export class Http {
  constructor({ url, key, fetch: send = globalThis.fetch, ...options }) {
    const base = new URL(url);
    if (base.protocol !== 'https:' && base.protocol !== 'http:') {
      throw new TypeError(`url: expected http or https, not ${base.protocol}`);
    }
    this.base = base.href.replace(/\/$/, '');
    this.key = key;
    this.send = send;
    this.options = { ...defaults, ...options };
  }

  /** Repeats a request until the status is below 400, and returns the answer. @throws SvcError */
  async ask({ method, path, query, headers = {}, body, isSafe }, options = {}) {
    const settings = { ...this.options, ...options };
    const url = `${this.base}${path}${searchOf(query)}`;
    for (let attempt = 0; ; attempt++) {
      const { answer, error } = await this.#once(url, { method, headers, body }, settings);
      if (answer?.ok) return answer;
      const failed = error ?? (await errorOf(answer));
      const waitMs = delayOf(failed, answer, attempt, settings);
      const mayRepeat = isSafe || notBegun.has(answer?.status ?? 0);
      const isWorth = answer ? retriable.has(answer.status) : failed._tag !== 'AbortError';
      if (!mayRepeat || !isWorth || attempt >= settings.retries || waitMs === null) throw failed;
      await pause(waitMs, settings.signal);
    }
  }

  async #once(url, { method, headers, body }, { timeoutMs, signal }) {
    const time = new AbortController();
    const stop = () => time.abort();
    const timer = setTimeout(stop, timeoutMs);
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    try {
      const answer = await this.send(url, {
        method,
        headers: { accept: 'application/json', ...headers, 'x-api-key': this.key },
        body,
        // Follows no redirect, so that the key is never sent to the target.
        redirect: 'manual',
        signal: time.signal,
        ...(body !== undefined && typeof body === 'object' && { duplex: 'half' }),
      });
      if (answer.type === 'opaqueredirect' || (answer.status >= 300 && answer.status < 400)) {
        return {
          error: unexpected(answer, 'a redirect: give the address that it leads to as url'),
        };
      }
      return { answer };
    } catch (cause) {
      return { error: noAnswer(cause, { isAborted: signal?.aborted === true, timeoutMs, time }) };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }

  /** Requests JSON. @throws SvcError */
  async json(request, options) {
    const answer = await this.ask(request, options);
    return readJson(answer);
  }
}

function noAnswer(cause, { isAborted, timeoutMs, time }) {
  if (isAborted)
    return new SvcError({ _tag: 'AbortError', message: 'The request was aborted' }, { cause });
  const message = time.signal.aborted
    ? `The server did not answer within ${timeoutMs} ms`
    : `The server cannot be reached: ${cause?.cause?.message ?? cause?.message}`;
  return new SvcError(
    { _tag: time.signal.aborted ? 'TimeoutError' : 'ConnectionError', message },
    { cause },
  );
}

function unexpected(answer, words) {
  const message = `The server answered ${answer.status} with ${words}`;
  return new SvcError({ _tag: 'UnexpectedAnswerError', message }, factsOf(answer));
}

function factsOf(answer) {
  return { status: answer.status || null, requestId: answer.headers.get('x-request-id') };
}

async function errorOf(answer) {
  const text = await answer.text().catch(() => '');
  try {
    const fields = JSON.parse(text);
    if (typeof fields?._tag === 'string') return new SvcError(fields, factsOf(answer));
  } catch {
    // Falls through: the answer is not from the API.
  }
  return unexpected(answer, wordsOf(answer, text));
}

/** Returns the JSON of an answer. @throws SvcError if the answer has no JSON */
export async function readJson(answer) {
  const text = await answer.text().catch((cause) => {
    const message = `The answer ended early: ${cause?.message}`;
    throw new SvcError({ _tag: 'ConnectionError', message }, { ...factsOf(answer), cause });
  });
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw unexpected(answer, wordsOf(answer, text));
  }
}

function wordsOf(answer, text) {
  const type = answer.headers.get('content-type') ?? 'no type';
  return `${type}, not the JSON of svc (${text.slice(0, 80)}): is url the address of a svc daemon?`;
}

/** Returns the ms until the next try; null if the server asks for more than the client waits. */
function delayOf(error, answer, attempt, { maxDelayMs }) {
  const asked = Number(answer?.headers.get('retry-after') ?? error.retryAfterSeconds ?? Number.NaN);
  if (Number.isFinite(asked) && asked >= 0) return asked * 1000 > maxDelayMs ? null : asked * 1000;
  return Math.min(maxDelayMs, 250 * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** Waits; ends early if the signal aborts. */
export function pause(ms, signal) {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
    signal?.addEventListener('abort', done);
  });
}

function searchOf(query = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) {
      search.append(name, one instanceof Date ? one.toISOString() : String(one));
    }
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
