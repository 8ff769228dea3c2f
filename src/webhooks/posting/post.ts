// A single POST to an endpoint over the client of outgoing HTTP: sends the body unchanged, keeps 4
// KB of the response. Never throws: failures are in the outcome.
import type { App } from '../../core/app.ts';
import { codeOf, messageOf } from '../../platform/errors.ts';
import { type HttpAnswer, HttpError, type HttpStep } from '../../platform/net/http/answer.ts';
import { createHttpClient } from '../../platform/net/http/client.ts';
import { retryAtOf } from '../../platform/net/http/retry-after.ts';
import { endpointGuard } from '../endpoints/url-rules.ts';

export const connectionsPerOrigin = 10;
const mostAnswerBytes = 64 * 1024;
const mostKept = 4 * 1024;
const longestRetryMs = 24 * 3600_000;

/** Class of a failed post. `status`: the response has no 2xx status. */
type ErrorClass = HttpStep | 'status';

export interface PostRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface PostOutcome {
  isSuccess: boolean;
  statusCode: number | null;
  errorClass: ErrorClass | null;
  /** Text of the response, or of the failure: at most 4 KB, without control characters. */
  response: string | null;
  /** Time by the Retry-After (RFC 9110 10.2.3) of a 429 or 503, ms since 1970; else null. */
  retryAt: number | null;
  durationMs: number;
}

export interface Poster {
  post(request: PostRequest): Promise<PostOutcome>;
  /** Aborts posts under way. */
  close(): Promise<void>;
}

export type PosterParts = Pick<
  App,
  'boundPorts' | 'clock' | 'config' | 'connect' | 'dns' | 'publicUrl'
>;

/** Creates a poster with the address guard, time limit and connections of webhooks. */
export function createPoster(app: PosterParts): Poster {
  const { clock } = app;
  const client = createHttpClient(app, {
    guard: endpointGuard(app),
    timeoutMs: app.config.webhooks.timeoutSeconds * 1000,
    mostBytes: mostAnswerBytes,
    connectionsPerOrigin,
  });
  return {
    async post({ url: text, headers: own, body }) {
      const startedAt = clock.elapsed();
      const headers = {
        ...own,
        'content-type': 'application/json',
        'user-agent': 'svc-webhooks/1',
      };
      const request = { url: new URL(text), method: 'POST' as const, headers, body };
      const answer = client.ask(request);
      const outcome = await answer.then((one) => outcomeOf(app, one), failure);
      return { ...outcome, durationMs: Math.max(0, Math.round(clock.elapsed() - startedAt)) };
    },
    close: () => client.close(),
  };
}

type Exchanged = Omit<PostOutcome, 'durationMs'>;

function outcomeOf(
  { clock }: Pick<App, 'clock'>,
  { statusCode, text, header }: HttpAnswer,
): Exchanged {
  const isSuccess = statusCode >= 200 && statusCode < 300;
  const mayRetryLater = statusCode === 429 || statusCode === 503;
  return {
    isSuccess,
    statusCode,
    errorClass: isSuccess ? null : 'status',
    response: shownText(text),
    retryAt: mayRetryLater ? retryAtOf(clock, header('retry-after'), longestRetryMs) : null,
  };
}

function shownText(text: string): string | null {
  if (text === '') return null;
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]+/gu, ' ').trim();
  // Cuts by bytes, as a character may have several.
  const cut = Buffer.from(plain, 'utf8').subarray(0, mostKept).toString('utf8');
  return cut.replace(/\uFFFD{1,3}$/, '') || null;
}

function failure(error: unknown): Exchanged {
  const code = codeOf(error);
  const text = code === '' ? messageOf(error) : `${code}: ${messageOf(error)}`;
  const problem = error instanceof HttpError ? error : new HttpError('response', text);
  const { step: errorClass, statusCode, message } = problem;
  const response = shownText(message);
  return { isSuccess: false, statusCode, errorClass, response, retryAt: null };
}
