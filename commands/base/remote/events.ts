// Follows the events of a server, and builds the webhook posts that a program on this machine gets
// of them.

import type { LogItem } from '../../../src/history/events/schema.ts';
import { systemClock } from '../../../src/platform/runtime/clock.ts';
import type { ComingEvent } from '../../../src/webhooks/listen.ts';
import type { PosterParts } from '../../../src/webhooks/posting/post.ts';
import type { OpenServer } from '../asking.ts';
import { asRefusal } from './refusal.ts';

/** Choice of events, as GET /v1/events/stream takes it. */
interface StreamChoice {
  type?: string | undefined;
  subject?: string | undefined;
  /** ISO 8601; without it, new events. */
  after?: string | undefined;
  lastEventId?: string | undefined;
  signal?: AbortSignal;
}

/** Yields events until the signal; after a cut connection it continues behind the last event. */
export async function* eventsAt(
  { url, client }: OpenServer,
  { type, subject, after, lastEventId, signal }: StreamChoice,
): AsyncGenerator<LogItem> {
  const filter = { type, subject, after };
  const query = Object.fromEntries(
    Object.entries(filter).filter(([, value]) => value !== undefined),
  ) as Record<string, string>;
  const options = { query, ...(lastEventId !== undefined && { lastEventId }) };
  try {
    const events = client.events.stream({ ...options, ...(signal && { signal }) });
    for await (const event of events) yield event as unknown as LogItem;
  } catch (error) {
    throw asRefusal(error, url);
  }
}

/** Yields the events of a server with the bodies that an endpoint would get. */
export async function* comingFrom(
  at: OpenServer,
  choice: StreamChoice,
): AsyncGenerator<ComingEvent> {
  const { eventBody } = await import('../../../src/webhooks/posting/body.ts');
  for await (const event of eventsAt(at, choice)) {
    const { type, timestamp, data, organizationId } = event;
    yield {
      event: { ...event, subject: typeof data.id === 'string' ? data.id : '' },
      readBody: async () =>
        eventBody({ type, timestamp: Date.parse(timestamp), data, organizationId }),
    };
  }
}

/** Returns the secret that signs events of a server: derived from the address and the API key. */
export async function listenSecretOf({ url, key }: OpenServer): Promise<string> {
  const { secretFrom } = await import('../../../src/webhooks/posting/signature.ts');
  return secretFrom(`webhook listen ${url} ${key}`);
}

/** Returns the parts that webhook posts need, without a store, from the default configuration. */
export async function posterParts({ url }: OpenServer): Promise<PosterParts & { close(): void }> {
  const [{ configSchema }, { createDns }, { systemRandom }] = await Promise.all([
    import('../../../src/core/config/schema.ts'),
    import('../../../src/platform/net/dns.ts'),
    import('../../../src/platform/runtime/random.ts'),
  ]);
  const config = configSchema.parse({});
  const dns = createDns({ servers: [], clock: systemClock, random: systemRandom() });
  return {
    ...{ boundPorts: new Set<number>(), clock: systemClock, config, connect: undefined, dns },
    publicUrl: { current: url },
    close: () => dns.close(),
  };
}
