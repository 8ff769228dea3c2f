// Sends requests of acme-client through the resolver and the connector of the App, with limits, instead of
// axios' own transport. Answers outside RFC 8555 become an AuthorityError here, so that the library neither
// retries by its own clock nor reads missing fields.
//
//   limit     | value
//   ----------+------------------------------------------------------------------
//   time      | 20 s for a request, by the clock of the App
//   answer    | 256 KB
//   redirect  | counts as an unreadable answer and is never followed
//   hosts     | the host of the directory at any address; others at public addresses
import { AsyncLocalStorage } from 'node:async_hooks';
import { type IncomingMessage, request } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import type { App } from '../../../core/app.ts';
import { handshake } from '../../../mail/smtp/tls.ts';
import { messageOf } from '../../../platform/errors.ts';
import { dialSocket } from '../../../platform/net/dial.ts';
import { isPublicAddress } from '../../../platform/net/network-address.ts';
import { AuthorityError } from './authority-error.ts';

const requestMs = 20_000;
const mostBytes = 256 * 1024;
const mostAddresses = 3;
const longestPeaceMs = 7 * 24 * 3600_000;
const longestDetail = 500;
const badNonce = 'urn:ietf:params:acme:error:badNonce';

/** App and signal of a request. */
interface Journey {
  app: App;
  /** Aborts requests under way. */
  signal: AbortSignal;
}

const journeys = new AsyncLocalStorage<Journey>();

/** Runs `work`. Its requests of acme-client use the app and signal of `journey`. */
export function travellingFor<T>(journey: Journey, work: () => Promise<T>): Promise<T> {
  return journeys.run(journey, work);
}

/** Fields of an axios request that we read. */
interface AxiosRequest {
  url?: string;
  method?: string;
  data?: unknown;
}

interface AxiosAnswer<Config> {
  status: number;
  statusText: string;
  headers: Record<string, string>;
  data: unknown;
  config: Config;
}

/** Replaces the HTTP adapter of axios. */
export async function acmeAdapter<Config extends AxiosRequest>(
  config: Config,
): Promise<AxiosAnswer<Config>> {
  const journey = journeys.getStore();
  if (!journey) throw new Error('acme-client was called outside of travellingFor');
  const { url: text = '', method = 'get', data } = config;
  const url = readUrl(journey.app, text);
  const time = new AbortController();
  const cancel = journey.app.clock.after(requestMs, () => time.abort());
  const signal = AbortSignal.any([journey.signal, time.signal]);
  try {
    const body = typeof data === 'string' ? data : null;
    const answer = await exchange(journey.app, url, method.toUpperCase(), body, signal);
    const { status, headers } = answer;
    return { status, statusText: '', headers, data: readAnswer(journey.app, answer), config };
  } catch (error) {
    if (error instanceof AuthorityError) throw error;
    const late = time.signal.aborted ? `did not answer within ${requestMs / 1000} s` : null;
    const why = journey.signal.aborted ? 'was given up' : (late ?? messageOf(error));
    throw new AuthorityError('unavailable', `${url.host}: ${why}`);
  } finally {
    cancel();
  }
}

/**
 * Parses an address. Plain HTTP is allowed only at the origin of the configured directory. @throws
 * AuthorityError
 */
function readUrl({ config }: App, text: string): URL {
  const directory = new URL(config.tracking.acme.directoryUrl);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && (url.protocol === 'https:' || url.origin === directory.origin)) return url;
  const shown = JSON.stringify(text.slice(0, 200));
  throw new AuthorityError(
    'unreadable',
    `${directory.host} named ${shown}, which is not an https:// address`,
  );
}

async function addressesOf({ config, dns }: App, url: URL): Promise<string[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const directory = new URL(config.tracking.acme.directoryUrl);
  const found = await resolved(dns, host);
  // The operator chose the directory. Other hosts that it names are untrusted.
  const usable = url.hostname === directory.hostname ? found : found.filter(isPublicAddress);
  if (usable.length > 0) return usable.slice(0, mostAddresses);
  throw new Error(found.length > 0 ? `${found[0]} is a private address` : 'it has no address');
}

async function resolved(dns: App['dns'], host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  if (host === 'localhost') return ['127.0.0.1', '::1'];
  const { ipv4, ipv6 } = await dns.addresses(host);
  return [...ipv4, ...ipv6];
}

async function open(app: App, url: URL, signal: AbortSignal): Promise<Socket> {
  const { clock } = app;
  const connector = app.connect ?? connect;
  const isSecure = url.protocol === 'https:';
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  const addresses = await addressesOf(app, url);
  const timeoutMs = requestMs / addresses.length;
  let problem: unknown = null;
  for (const address of addresses) {
    try {
      const socket = await dialSocket({ address, port, connector, clock, timeoutMs, signal });
      if (!isSecure) return socket;
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
      return await handshake({ socket, host, verifyCertificate: true, clock, timeoutMs });
    } catch (error) {
      problem = error;
    }
  }
  throw problem;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

async function exchange(
  app: App,
  url: URL,
  method: string,
  body: string | null,
  signal: AbortSignal,
): Promise<Answer> {
  const socket = await open(app, url, signal);
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request({
        createConnection: () => socket,
        method,
        path: `${url.pathname}${url.search}`,
        headers: {
          host: url.host,
          'user-agent': 'svc-acme/1',
          connection: 'close',
          ...(body !== null && {
            'content-type': 'application/jose+json',
            'content-length': Buffer.byteLength(body),
          }),
        },
        signal,
      })
        .once('response', resolve)
        .on('error', reject)
        .end(body ?? undefined);
    });
    const headers = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
    );
    return { status: response.statusCode ?? 0, headers, text: await readText(response) };
  } finally {
    socket.destroy();
  }
}

async function readText(response: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new AuthorityError('unreadable', 'an answer of more than 256 KB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsedObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Returns the text that the library will parse. @throws AuthorityError for every other answer */
function readAnswer(app: App, { status, headers, text }: Answer): string {
  const isJson = /\bjson\b/i.test(headers['content-type'] ?? '');
  const object = isJson ? parsedObject(text) : null;
  const type = String(object?.type ?? '');
  // The library retries with the nonce of this answer, five times at most.
  if (status === 400 && type === badNonce) return text;
  const problem = type.replace(/^urn:ietf:params:acme:error:/, '').slice(0, 60);
  const said = typeof object?.detail === 'string' ? `: ${plain(object.detail)}` : '';
  const retryAt = retryAtOf(app, headers['retry-after']);
  const message = `the authority answered ${status}${problem && ` ${problem}`}${said}`;
  if (status === 429 || problem === 'rateLimited') {
    throw new AuthorityError('rate-limited', message, { retryAt, problem });
  }
  if (status >= 500) throw new AuthorityError('unavailable', message, { retryAt, problem });
  if (status >= 400) throw new AuthorityError('refused', message, { retryAt, problem });
  const isCertificate = /^application\/pem-certificate-chain\b/i.test(
    headers['content-type'] ?? '',
  );
  if (status >= 200 && status < 300 && (object || isCertificate || text === '')) return text;
  throw new AuthorityError(
    'unreadable',
    `the authority answered ${status} with something other than ACME`,
  );
}

function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, longestDetail);
}

/** Parses Retry-After in seconds or as a date (RFC 9110 10.2.3), a week at most. */
function retryAtOf({ clock }: Pick<App, 'clock'>, header: string | undefined): number | null {
  const text = header?.trim() ?? '';
  const now = clock.now();
  const at = /^[0-9]{1,15}$/.test(text)
    ? now + Number(text) * 1000
    : /^[A-Z][a-z]{2}, .{10,40}$/.test(text)
      ? Date.parse(text)
      : Number.NaN;
  return at > now ? Math.min(at, now + longestPeaceMs) : null;
}
