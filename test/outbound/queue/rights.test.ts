// Scheduled mail after the rights of its key changed: when its time comes, the key or its heir is
// asked as it is then.
import { describe, expect, it } from 'vitest';
import { keysChanged } from '../../../src/access/keys/changes.ts';
import { replaceInstallationKey } from '../../../src/access/keys/installation-keys.ts';
import { createKey, revokeKey, rotateKey, updateKey } from '../../../src/access/keys/keys.ts';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import type { CreateKey } from '../../../src/access/keys/schema.ts';
import { createMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import {
  grant,
  type Installed,
  installed,
  switchTo,
  type Wanted,
} from '../../access/keys/installation-fixtures.ts';
import { stores } from '../../support/command.ts';
import { startPipeline, timeline } from '../../support/delivery.ts';
import { eachApi } from '../../support/each-app.ts';

const hourMs = 3_600_000;

/** A change of rights between the request and its time. */
type Change = (id: string) => Promise<unknown>;

describe.each(stores)('mail that a key has scheduled, on %s', (store) => {
  const { test, api } = eachApi({ store });

  const schedule = (plaintext: string, more: object = {}) =>
    api.as(plaintext).post<Message & { message: string }>('/v1/messages/scheduled', {
      ...{ channel: 'email', to: [{ email: 'ada@example.com' }] },
      email: { subject: 'Later', text: 'Later' },
      scheduledFor: isoTime(test.clock.now() + hourMs),
      ...more,
    });

  /**
   * Lets the time of a message come; returns its status, and the reason and check of a
   * cancellation.
   */
  async function departed({ id }: { id: string }) {
    const pipeline = await startPipeline(test.app);
    try {
      await test.clock.advance(hourMs);
      await pipeline.idle();
    } finally {
      await pipeline.close();
    }
    const { body } = await api.get<Message>(`/v1/messages/${id}`);
    const [delivery] = body.deliveries;
    const { errorCode = null, errorMessage = null } = delivery ?? {};
    return { status: body.status, errorCode, errorMessage };
  }

  const left = { status: 'delivered', errorCode: null, errorMessage: null };
  const cancelled = (words: string) => ({
    ...{ status: 'failed', errorCode: 'cancelled' },
    errorMessage: expect.stringContaining(words),
  });

  const mailbox = async () => createMailbox(test.app, test.operator, { slug: 'desk' });
  const limit = (id: string, constraints: CreateKey['constraints']) =>
    updateKey(test.app, test.operator, id, { constraints });

  const ofKey: [string, Partial<CreateKey>, Change, object][] = [
    ['stays as it is', {}, async () => {}, left],
    ['is revoked', {}, (id) => revokeKey(test.app, test.operator, id), cancelled('is revoked')],
    [
      'expires',
      { expiresAt: '2026-01-05T12:30:00.000Z' },
      async () => test.clock.advance(hourMs / 2),
      left,
    ],
    ['is rotated', {}, (id) => rotateKey(test.app, test.operator, id), left],
    [
      'is rotated, and its heir revoked',
      {},
      async (id) => {
        const heir = await rotateKey(test.app, test.operator, id);
        await revokeKey(test.app, test.operator, heir.id);
      },
      cancelled('is revoked'),
    ],
    [
      'is bound to a mailbox',
      {},
      async (id) => limit(id, { mailboxIds: [(await mailbox()).id] }),
      cancelled('reaches only its own mailboxes'),
    ],
    [
      'is rotated, and its heir bound to a namespace',
      {},
      async (id) => {
        const heir = await rotateKey(test.app, test.operator, id);
        await limit(heir.id, { namespaceId: (await mailbox()).namespaceId });
      },
      cancelled('reaches only its own mailboxes'),
    ],
    [
      'is limited to other senders',
      {},
      (id) => limit(id, { domains: ['elsewhere.example'] }),
      cancelled('may not send from'),
    ],
  ];

  it.each(ofKey)('ends as its key then allows, which %s', async (_what, more, change, wanted) => {
    const key = await createKey(test.app, test.operator, { role: 'developer', ...more });
    const { body } = await schedule(key.key ?? '');
    expect(body.status).toBe('scheduled');
    await change(key.id);
    expect(await departed(body)).toEqual(wanted);
  });

  it('of a test key is cancelled when its address leads to no mailbox any more', async () => {
    const { primaryAddress, id } = await mailbox();
    const key = await createKey(test.app, test.operator, { role: 'developer', mode: 'test' });
    const { body } = await schedule(key.key ?? '', { to: [{ email: primaryAddress }] });
    await api.delete(`/v1/mailboxes/${id}`);
    await test.clock.advance(0);
    expect(await departed(body)).toEqual(cancelled('A test key sends only'));
  });

  const wanted: Wanted = { permissions: ['messages:send', 'mailboxes:send'] };
  const ofInstallation: [string, (made: Installed) => Promise<unknown>, object][] = [
    ['stays as it is', async () => {}, left],
    [
      'never sends',
      (made) => grant(test, made, { ...wanted, sendMode: 'none' }),
      cancelled('never sends'),
    ],
    [
      'only proposes',
      (made) => grant(test, made, { ...wanted, sendMode: 'approval' }),
      cancelled('only proposes'),
    ],
    [
      'has lost messages:send',
      (made) => grant(test, made, { permissions: ['mailboxes:send', 'messages:read'] }),
      cancelled('lacks the permission messages:send'),
    ],
    [
      'is bound to a mailbox',
      async (made) =>
        grant(test, made, { ...wanted, constraints: { mailboxIds: [(await mailbox()).id] } }),
      cancelled('reaches only its own mailboxes'),
    ],
    ['is disabled', (made) => switchTo(test, made, false), cancelled('is revoked')],
    [
      'has new credentials',
      async ({ keyId }) => {
        const { app, operator } = test;
        await app.store.write((trx) => replaceInstallationKey(app, trx, operator, keyId));
        keysChanged(app);
      },
      left,
    ],
  ];

  it.each(ofInstallation)(
    'ends as its installation then may, which %s',
    async (_what, change, end) => {
      const made = await installed(test, wanted);
      const { body } = await schedule(made.plaintext);
      expect(body.status).toBe('scheduled');
      await change(made);
      expect(await departed(body)).toEqual(end);
    },
  );

  it('names the check in the timeline of what it cancels', async () => {
    const made = await installed(test, wanted);
    const { body } = await schedule(made.plaintext);
    await grant(test, made, { ...wanted, sendMode: 'none' });
    await departed(body);
    const events = await timeline(test.app, operatorOf(test.caller.organizationId), body.id);
    expect(events).toEqual(['scheduled:scheduled', 'cancelled:failed']);
    const { body: shown } = await api.get<{ eventType: string; metadata: object }[]>(
      `/v1/messages/${body.id}/events`,
    );
    const found = shown.find(({ eventType }) => eventType === 'cancelled');
    expect(found?.metadata).toMatchObject({ by: 'service', check: 'key-rights' });
  });
});
