// Posts events as they happen to a program on this machine, for development. Reads the store, or
// the stream of a server, so no tunnel or endpoint is needed. Signs with a secret that is constant
// for a store, or for a key of a server.
import { isIP } from 'node:net';
import { operatorOf } from '../access/keys/roles.ts';
import type { App } from '../core/app.ts';
import { followLog } from '../history/events/follow.ts';
import { type LogEntry, presentEntry } from '../history/events/log.ts';
import { isKnownPattern, matcherOf } from '../history/events/patterns.ts';
import type { LogItem } from '../history/events/schema.ts';
import { ValidationError } from '../platform/errors.ts';
import { shownBody } from './posting/body.ts';
import { createPoster, type PosterParts, type PostOutcome } from './posting/post.ts';
import { secretFrom, signatureHeaders } from './posting/signature.ts';

export interface ListenOptions {
  organizationId: string;
  /** Loopback URL; null reports events without posting them. */
  forwardTo: string | null;
  /** Patterns of the kinds of events to report, such as `*` or `message.*`. */
  patterns: readonly string[];
  /** Start, ms since 1970; without it, now. */
  since?: number | undefined;
  signal: AbortSignal;
}

/** An event, with the resource that it is about. */
interface HeardEvent extends LogItem {
  subject: string;
}

/** Event with the outcome of the post; the outcome is null if nothing was posted. */
export interface Heard {
  event: HeardEvent;
  outcome: PostOutcome | null;
}

/** An event to post, with the body that an endpoint would get. */
export interface ComingEvent {
  event: HeardEvent;
  readBody(): Promise<string>;
}

/** Target and secret of the posts, and the signal that ends the posting. */
export interface Forwarding extends Pick<ListenOptions, 'forwardTo' | 'signal'> {
  secret: string;
}

/** Returns the secret with which `listen` signs, for an organization of this store. */
export function listenSecret({ secrets }: App, organizationId: string): string {
  return secretFrom(secrets.token('webhook listen', organizationId));
}

/** Checks that a URL leads to this machine. @throws ValidationError */
export function checkLoopback(url: string): void {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' };
  const host = hostname.replace(/^\[|\]$/g, '');
  const isLocal =
    host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  if (isLocal && (protocol === 'http:' || protocol === 'https:')) return;
  const text = 'must be a URL of this machine, such as http://localhost:3000/hooks';
  throw new ValidationError(text, { forwardTo: [text] });
}

/** Checks that each pattern matches a kind of event. @throws ValidationError */
function checkPatterns(patterns: readonly string[]): void {
  const unknown = patterns.find((pattern) => !isKnownPattern(pattern));
  if (unknown === undefined) return;
  const text = `there is no event ${unknown}: "svc webhooks events" lists the kinds`;
  throw new ValidationError(text, { event: [text] });
}

/** Checks the URL and the patterns. @throws ValidationError */
export function checkListening({
  forwardTo,
  patterns,
}: Pick<ListenOptions, 'forwardTo' | 'patterns'>): void {
  if (forwardTo !== null) checkLoopback(forwardTo);
  checkPatterns(patterns);
}

/** Reports and posts each matching event of the store, once, in order, until the signal aborts. */
export async function listen(
  app: App,
  { organizationId, since, ...options }: ListenOptions,
  report: (heard: Heard) => void,
): Promise<void> {
  checkListening(options);
  const { patterns, signal, forwardTo } = options;
  const isWanted = matcherOf(patterns);
  const operator = operatorOf(organizationId);
  const secret = listenSecret(app, organizationId);
  async function* events(): AsyncGenerator<ComingEvent> {
    for await (const entry of await followLog(app, organizationId, { since }, signal)) {
      if (signal.aborted) return;
      if (!isWanted(entry.type)) continue;
      const event = { ...(await presentEntry(app, operator, entry)), subject: entry.subject };
      yield { event, readBody: () => bodyOf(app, entry) };
    }
  }
  await forward(app, events(), { forwardTo, secret, signal }, report);
}

/** Reports and posts each event. The caller has checked `forwardTo`. */
export async function forward(
  parts: PosterParts,
  events: AsyncIterable<ComingEvent>,
  { forwardTo, secret, signal }: Forwarding,
  report: (heard: Heard) => void,
): Promise<void> {
  const poster = createPoster(onThisMachine(parts));
  try {
    for await (const { event, readBody } of events) {
      if (signal.aborted) return;
      if (forwardTo === null) {
        report({ event, outcome: null });
        continue;
      }
      const body = await readBody();
      const headers = signatureHeaders([secret], event.id, parts.clock.now(), body);
      report({ event, outcome: await poster.post({ url: forwardTo, headers, body }) });
    }
  } finally {
    await poster.close();
  }
}

function bodyOf(app: App, { id, organizationId, type, subject, timestamp }: LogEntry) {
  return shownBody(app, {
    organization_id: organizationId,
    event_id: id,
    event_type: type,
    message_id: type.startsWith('message.') ? subject : null,
    created_at: timestamp,
  });
}

function onThisMachine(parts: PosterParts): PosterParts {
  const webhooks = { ...parts.config.webhooks, allowPrivateAddresses: true };
  return { ...parts, config: { ...parts.config, webhooks } };
}
