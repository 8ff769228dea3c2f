// Posts events as they happen to a program on this machine, for development. Reads the store, so no
// daemon, tunnel or endpoint is needed. Signs with a secret that is constant for a store.
import { isIP } from 'node:net';
import type { App } from '../core/app.ts';
import { followLog } from '../history/events/follow.ts';
import type { LogEntry } from '../history/events/log.ts';
import { isKnownPattern, matcherOf } from '../history/events/patterns.ts';
import { ValidationError } from '../platform/errors.ts';
import { shownBody } from './posting/body.ts';
import { createPoster, type Poster, type PostOutcome } from './posting/post.ts';
import { secretFrom, signatureHeaders } from './posting/signature.ts';

export interface ListenOptions {
  organizationId: string;
  /** Loopback URL; null reports events without posting them. */
  forwardTo: string | null;
  /** `*`, `message.*` or kinds. */
  patterns: readonly string[];
  /** Start, ms since 1970; without it, now. */
  since?: number | undefined;
  signal: AbortSignal;
}

/** Event with the outcome of the post. */
export interface Heard {
  event: LogEntry;
  outcome: PostOutcome | null;
}

/** Returns the secret with which `listen` signs, for an organization of this store. */
export function listenSecret({ secrets }: App, organizationId: string): string {
  return secretFrom(secrets.token('webhook listen', organizationId));
}

/** @throws ValidationError for a URL that leads off this machine. */
export function checkLoopback(url: string): void {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' };
  const host = hostname.replace(/^\[|\]$/g, '');
  const isLocal =
    host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  if (isLocal && (protocol === 'http:' || protocol === 'https:')) return;
  const text = 'must be a URL of this machine, such as http://localhost:3000/hooks';
  throw new ValidationError(text, { forwardTo: [text] });
}

/** @throws ValidationError for a pattern that matches no kind of event. */
function checkPatterns(patterns: readonly string[]): void {
  const unknown = patterns.find((pattern) => !isKnownPattern(pattern));
  if (unknown === undefined) return;
  const text = `there is no event ${unknown}: "svc webhooks events" lists the kinds`;
  throw new ValidationError(text, { event: [text] });
}

/** Reports and posts each matching event, once, in order, until the signal. */
export async function listen(
  app: App,
  { organizationId, forwardTo, patterns, since, signal }: ListenOptions,
  tell: (heard: Heard) => void,
): Promise<void> {
  if (forwardTo !== null) checkLoopback(forwardTo);
  checkPatterns(patterns);
  const isWanted = matcherOf(patterns);
  const poster = createPoster(onThisMachine(app));
  try {
    for await (const event of await followLog(app, organizationId, { since }, signal)) {
      if (signal.aborted) return;
      if (!isWanted(event.type)) continue;
      const outcome = forwardTo === null ? null : await post(app, poster, forwardTo, event);
      tell({ event, outcome });
    }
  } finally {
    await poster.close();
  }
}

async function post(
  app: App,
  poster: Poster,
  url: string,
  { id, organizationId, type, subject, timestamp }: LogEntry,
): Promise<PostOutcome> {
  const body = await shownBody(app, {
    organization_id: organizationId,
    event_id: id,
    event_type: type,
    message_id: type.startsWith('message.') ? subject : null,
    created_at: timestamp,
  });
  const secret = listenSecret(app, organizationId);
  return poster.post({ url, headers: signatureHeaders([secret], id, app.clock.now(), body), body });
}

function onThisMachine(app: App): App {
  const webhooks = { ...app.config.webhooks, allowPrivateAddresses: true };
  return { ...app, config: { ...app.config, webhooks } };
}
