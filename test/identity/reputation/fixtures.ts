// Mail with outcomes of the test's choice: a pipeline with the real claim and settle, and an
// attempt that takes its outcome from the recipient's local part.
import { sql } from 'kysely';
import type { Organization } from '../../../src/access/organizations/schema.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import type { Outcome } from '../../../src/mail/smtp/outcome.ts';
import { findDeliveries } from '../../../src/outbound/deliveries/queries.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { createAttempter } from '../../../src/outbound/queue/attempting/attempter.ts';
import { openCarrierHere } from '../../../src/outbound/queue/carrier/carrier.ts';
import { createPipeline } from '../../../src/outbound/queue/loop.ts';
import {
  applyLateOutcome,
  type LateOutcome,
} from '../../../src/outbound/queue/settling/late-outcome.ts';
import { acceptAll } from '../../../src/outbound/sending/accept.ts';
import { readSendContent } from '../../../src/outbound/sending/content.ts';
import { recentContents } from '../../../src/outbound/sending/recent-contents.ts';
import { fromJson } from '../../../src/platform/store/db.ts';
import { payloadFor } from '../../support/delivery.ts';

const reply = (code: number, enhancedCode: string, text: string) => ({
  code,
  enhancedCode,
  text,
  verb: 'RCPT',
});

/** Replies by the first word of the local part. */
const replies = {
  ok: reply(250, '2.0.0', 'OK'),
  dead: reply(550, '5.1.1', 'User unknown'),
  full: reply(552, '5.2.2', 'Mailbox full'),
  policy: reply(550, '5.7.1', 'Rejected by policy'),
  reputation: reply(554, '5.7.1', 'Poor reputation of your IP'),
  spam: reply(554, '5.7.1', 'Message looks like spam'),
  wait: reply(450, '4.2.0', 'Greylisted'),
  ours: reply(0, '5.3.0', 'No route'),
} as const;

function outcomeFor(app: App, email: string): Outcome {
  const word = email.split(/[-@+]/)[0] ?? '';
  const said = replies[word as keyof typeof replies] ?? replies.ok;
  const trace = {
    host: 'mx.example.com',
    address: '127.0.0.1',
    tls: null,
    startedAt: app.clock.now(),
    durationMs: 1,
    transcript: '',
  };
  if (said.code === 250) return { kind: 'sent', reply: said, trace };
  if (word === 'wait') return { kind: 'deferred', errorCode: 'unknown', reply: said, trace };
  const kind = word === 'ours' ? 'failed' : 'bounced';
  return { kind, errorCode: 'unknown', reply: said, trace };
}

export interface Outcomes {
  /** Accepts one message for each address, and settles all due deliveries. */
  deliver(caller: Caller, addresses: readonly string[], fromEmail?: string): Promise<Message[]>;
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** Accepts messages in one transaction, as a group of sends does. */
export async function accept(
  app: App,
  caller: Caller,
  addresses: readonly string[],
  fromEmail?: string,
): Promise<Message[]> {
  const requests = addresses.map((address) => {
    const from = fromEmail === undefined ? {} : { from: { email: fromEmail } };
    const payload = payloadFor(address, from);
    const content = readSendContent(caller.organizationId, payload);
    return { caller, payload, content, idempotency: null };
  });
  const recent = recentContents();
  const results = await app.store.write((trx) => acceptAll(app, trx, recent(trx), requests));
  return results.map((result) => {
    if ('error' in result) throw result.error;
    return result.message;
  });
}

/** Starts delivery with outcomes of the test's own; `relay`: a 250 is not yet the delivery. */
export async function startOutcomes(app: App, { relay = false } = {}): Promise<Outcomes> {
  const attempter = createAttempter(app, { host: '127.0.0.1', port: 1 }, openCarrierHere);
  const pipeline = createPipeline(app, {
    worker: 'wrk_usage',
    choice: attempter.choice,
    attempt: ({ message, deliveries }, settle) => {
      const ended = deliveries.map((delivery) => ({
        delivery,
        fromEmail: message.from_email,
        outcome: outcomeFor(app, delivery.email),
        routeKind: delivery.domain === 'simulator.test' ? 'simulator' : 'direct',
        sentIsDelivered: !relay,
        aftermath: delivery.email.startsWith('complained@') ? ('complained' as const) : null,
        isSole: message.delivery_count === 1,
      }));
      return settle(ended);
    },
  });
  await pipeline.start();
  return {
    async deliver(caller, addresses, fromEmail) {
      const messages = await accept(app, caller, addresses, fromEmail);
      await pipeline.idle();
      return messages;
    },
    idle: () => pipeline.idle(),
    async close() {
      await pipeline.stop(0);
      await attempter.close();
    },
  };
}

/** Returns `count` addresses with this outcome. */
export function many(count: number, word: keyof typeof replies, domain = 'example.com'): string[] {
  return Array.from({ length: count }, (_, index) => `${word}-${index}@${domain}`);
}

/** Records the outcome in a late report about a message. */
export async function late(app: App, messageId: string, outcome: LateOutcome): Promise<boolean> {
  const [delivery] = await findDeliveries(app.store.db, [messageId]);
  if (!delivery) throw new Error(`${messageId} has no delivery`);
  return app.store.write((trx) => applyLateOutcome(app, trx, delivery, outcome));
}

export const lateBounce: LateOutcome = {
  kind: 'bounced',
  errorCode: 'invalid-recipient',
  isHard: true,
  code: 550,
  enhancedCode: '5.1.1',
  text: 'User unknown',
  remoteMta: null,
};

export const complaint: LateOutcome = { kind: 'complained', feedbackType: 'abuse' };

export interface WorkspaceEventRow {
  type: string;
  status: string;
  metadata: Record<string, unknown> | null;
}

/** Reads the events of organizations, in order. */
export async function workspaceEventRows(app: App): Promise<WorkspaceEventRow[]> {
  const query = sql<{ event_type: string; data: string; facts: string | null }>`
    select event_type, data, facts from resource_events
    where event_type like 'workspace.%' order by id`;
  return (await query.execute(app.store.db)).rows.map((row) => ({
    type: row.event_type,
    status: fromJson<Organization>(row.data)?.sendingStatus ?? '',
    metadata: fromJson(row.facts),
  }));
}

/** Lists the kinds of these events. */
export async function workspaceEvents(app: App): Promise<string[]> {
  return (await workspaceEventRows(app)).map(({ type }) => type);
}
