// Shared by the tests of the checks of a send: a domain with a sender, mailboxes of this
// organization and of another, keys, and a pipeline for scheduled mail.
import { sql } from 'kysely';
import { expect } from 'vitest';
import { createAuthenticator } from '../../../src/access/keys/authenticator.ts';
import { createKey } from '../../../src/access/keys/keys.ts';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import type { CreateKey } from '../../../src/access/keys/schema.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createMailbox, deleteMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { createSender } from '../../../src/identity/senders/senders.ts';
import { listMessageEvents } from '../../../src/outbound/messages/messages.ts';
import { scheduledPayload } from '../../../src/outbound/messages/send-schema.ts';
import { scheduleMessage } from '../../../src/outbound/sending/schedule/schedule.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import type { TestStore } from '../../support/command.ts';
import { firstDelivery, type RunningPipeline, startPipeline } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { otherOrganization, payload } from '../messages/fixtures.ts';

export const hourMs = 3_600_000;
/** A sender on the domain of the organization `default`. */
export const from = 'news@acme.example';
export const ownMailbox = 'office@acme.example';
/** Mailboxes of another organization. */
export const foreignMailboxes = ['r0@elsewhere.example', 'r1@elsewhere.example'] as const;

export interface CheckedWorld {
  test: TestApp;
  domainId: string;
  senderId: string;
  /** Creates a key; returns it with its caller. */
  key(input?: CreateKey): Promise<{ id: string; plaintext: string; caller: Caller }>;
  /** Schedules a message an hour from now; returns its id. */
  schedule(caller: Caller, to: readonly string[], top?: Record<string, unknown>): Promise<string>;
  /** Lets time pass and all due work end; the queue starts with the first call. */
  pass(ms: number): Promise<void>;
  /** Returns `goes`, `waits REASON` or `cancelled by CHECK`. */
  outcomeOf(id: string): Promise<string>;
  close(): Promise<void>;
}

export async function checkedWorld(store: TestStore): Promise<CheckedWorld> {
  const test = await testApp({ store });
  const { app, operator, clock } = test;
  const verified = async (caller: Caller, domain: string) => {
    const { id } = await addDomain(app, caller, { domain, dkim: 'ed25519' });
    await verifyDomain(app, caller, id, { force: true });
    return id;
  };
  const domainId = await verified(operator, 'acme.example');
  const { id: senderId } = await createSender(app, operator, { email: from });
  const mailbox = { slug: 'office', displayName: null };
  await createMailbox(app, operator, { ...mailbox, address: ownMailbox });
  const other = (await otherOrganization(app, 'elsewhere')).caller;
  await verified(other, 'elsewhere.example');
  for (const address of foreignMailboxes) {
    await createMailbox(app, other, { ...mailbox, slug: address.slice(0, 2), address });
  }
  let pipeline: RunningPipeline | null = null;
  return {
    test,
    domainId,
    senderId,
    async key(input = { role: 'sender' }) {
      const { id, key } = await createKey(app, operator, input);
      const caller = await createAuthenticator(app).authenticate(key ?? '');
      if (!caller) throw new Error('a new key was refused');
      return { id, plaintext: key ?? '', caller };
    },
    async schedule(caller, to, top = {}) {
      const scheduledFor = isoTime(clock.now() + hourMs);
      const entries = to.map((email) => ({ email }));
      const body = payload({}, { from: { email: from }, to: entries, scheduledFor, ...top });
      return (await scheduleMessage(app, caller, scheduledPayload.parse(body))).id;
    },
    async pass(ms) {
      pipeline ??= await startPipeline(app);
      await clock.advance(ms);
      await pipeline.idle();
    },
    async outcomeOf(id) {
      const { status, scheduling } = await firstDelivery(app, operator, id);
      if (status === 'scheduled') return `waits ${scheduling?.waitReason}`;
      const events = await listMessageEvents(app, operator, id);
      const cancelled = events.find(({ eventType }) => eventType === 'cancelled');
      if (cancelled) return `cancelled by ${cancelled.metadata?.check}`;
      expect(events.map(({ eventType }) => eventType)).toContain('queued');
      return 'goes';
    },
    async close() {
      await pipeline?.close();
      await test.close();
    },
  };
}

/** Deletes the mailbox with this address, of any organization. */
export async function closeMailbox(app: App, address: string): Promise<void> {
  const { rows } = await sql<{ id: string; organization_id: string }>`
    select id, organization_id from mailboxes where primary_address = ${address}`.execute(
    app.store.db,
  );
  for (const { id, organization_id } of rows)
    await deleteMailbox(app, operatorOf(organization_id), id);
}
