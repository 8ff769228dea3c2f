// Sends the requests of acme-client with the HTTP client of this service instead of axios. Answers
// that violate RFC 8555 become an AuthorityError here, so that the library neither retries on its
// own schedule nor reads missing fields.
//
//   limit     | value
//   ----------+------------------------------------------------------------------
//   time      | 20 s for a request, by the clock of the App
//   answer    | 256 KB
//   redirect  | counts as an unreadable answer and is never followed
//   hosts     | the host of the directory at any address; further hosts at public addresses
import type { App } from '../../../../core/app.ts';
import { messageOf } from '../../../../platform/errors.ts';
import { type HttpAnswer, HttpError } from '../../../../platform/net/http/answer.ts';
import { askOnce, type HttpRequest } from '../../../../platform/net/http/client.ts';
import { type AddressGuard, publicOnly } from '../../../../platform/net/http/connect.ts';
import { retryAtOf } from '../../../../platform/net/http/retry-after.ts';
import { AuthorityError } from './authority-error.ts';

const requestMs = 20_000;
const mostBytes = 256 * 1024;
const longestRetryMs = 7 * 24 * 3600_000;
const longestDetail = 500;
const badNonce = 'urn:ietf:params:acme:error:badNonce';

/** Response in the form that acme-client reads. */
interface LibraryAnswer {
  status: number;
  headers: Readonly<Record<string, string | null>>;
  data: unknown;
}

/** Signature of the method `request` of acme-client's HttpClient. */
export type LibraryRequest = (
  url: string,
  method: string,
  options?: { data?: unknown },
) => Promise<LibraryAnswer>;

/** Headers of a response that acme-client reads. */
const headersRead = ['replay-nonce', 'location', 'link'] as const;

/**
 * Returns the function that sends the requests of an acme-client. Aborting `signal` cancels them.
 */
export function requesterOf(app: App, signal: AbortSignal): LibraryRequest {
  const directory = new URL(app.config.tracking.acme.directoryUrl);
  const bounds = {
    guard: guardOf(directory),
    timeoutMs: requestMs,
    mostBytes,
    connectionsPerOrigin: 1,
  };
  return async (text, method, options) => {
    const url = readUrl(directory, text);
    const body = options?.data === undefined ? undefined : JSON.stringify(options.data);
    const request: HttpRequest = {
      url,
      method: method.toUpperCase() as HttpRequest['method'],
      headers: {
        'user-agent': 'svc-acme/1',
        ...(body !== undefined && { 'content-type': 'application/jose+json' }),
      },
      body,
    };
    const answer = await askOnce(app, bounds, request, signal).catch((error: unknown) => {
      throw new AuthorityError(isTooLong(error) ? 'unreadable' : 'unavailable', messageOf(error));
    });
    const headers = Object.fromEntries(headersRead.map((name) => [name, answer.header(name)]));
    return { status: answer.statusCode, headers, data: readAnswer(app, answer) };
  };
}

/**
 * Allows any address for the directory, which the operator chose. All further hosts are untrusted.
 */
function guardOf(directory: URL): AddressGuard {
  const isChosen = (host: string) => host === directory.hostname.replace(/^\[|\]$/g, '');
  return {
    hostProblem: (target) => (isChosen(target.host) ? null : publicOnly.hostProblem(target)),
    addressProblem: (target, addresses) =>
      isChosen(target.host) ? null : publicOnly.addressProblem(target, addresses),
  };
}

function isTooLong(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof HttpError && cause.step === 'response';
}

/**
 * Parses an address. Plain HTTP is allowed only at the origin of the configured directory. @throws
 * AuthorityError
 */
function readUrl(directory: URL, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && (url.protocol === 'https:' || url.origin === directory.origin)) return url;
  const shown = JSON.stringify(text.slice(0, 200));
  throw new AuthorityError(
    'unreadable',
    `${directory.host} named ${shown}, which is not an https:// address`,
  );
}

function parsedObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/**
 * Returns the answer in the form that acme-client reads: parsed JSON, or the text.
 * @throws AuthorityError for an answer that acme-client must not see
 */
function readAnswer({ clock }: App, { statusCode: status, header, text }: HttpAnswer): unknown {
  const mediaType = header('content-type') ?? '';
  const isJson = /\bjson\b/i.test(mediaType);
  const object = isJson ? parsedObject(text) : null;
  const type = String(object?.type ?? '');
  // The library retries with the nonce of this answer, at most five times.
  if (status === 400 && type === badNonce) return object;
  const problem = type.replace(/^urn:ietf:params:acme:error:/, '').slice(0, 60);
  const said = typeof object?.detail === 'string' ? `: ${plain(object.detail)}` : '';
  const retryAt = retryAtOf(clock, header('retry-after'), longestRetryMs);
  const message = `the authority answered ${status}${problem && ` ${problem}`}${said}`;
  if (status === 429 || problem === 'rateLimited') {
    throw new AuthorityError('rate-limited', message, { retryAt, problem });
  }
  if (status >= 500) throw new AuthorityError('unavailable', message, { retryAt, problem });
  if (status >= 400) throw new AuthorityError('refused', message, { retryAt, problem });
  const isCertificate = /^application\/pem-certificate-chain\b/i.test(mediaType);
  if (status >= 200 && status < 300 && (object || isCertificate || text === '')) {
    return object ?? text;
  }
  throw new AuthorityError(
    'unreadable',
    `the authority answered ${status} with something other than ACME`,
  );
}

function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, longestDetail);
}
