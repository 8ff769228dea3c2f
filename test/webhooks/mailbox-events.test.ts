// Events of a mailbox are posted as they were published: each `mailbox.*` event, over a real
// connection, signed so that the published verifier takes it.
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  deleteMailbox,
  pauseMailbox,
  resumeMailbox,
  updateMailbox,
} from '../../src/identity/mailboxes/mailboxes.ts';
import { rejectAction } from '../../src/inbox/approvals/actions.ts';
import { reply } from '../../src/inbox/replies/answers.ts';
import { approveAction } from '../../src/inbox/replies/approve.ts';
import { createWebhook } from '../../src/webhooks/endpoints/webhooks.ts';
import { createWebhookLoop, type WebhookLoop } from '../../src/webhooks/posting/loop.ts';
import { agentOf } from '../inbox/approvals/fixtures.ts';
import { config, type Desk, deskOf } from '../inbox/replies/world.ts';
import { stores } from '../support/command.ts';
import { eachApi } from '../support/each-app.ts';
import { loopbackConfig, type Receiver, receiver, until } from './engine.ts';

interface Posted {
  type: string;
  timestamp: string;
  data: { id?: string; mailboxId?: string; state?: string };
  organizationId: string;
}

describe.each(stores)('posted events of a mailbox on %s', (store) => {
  const world = eachApi({ store, config: { ...config, ...loopbackConfig } });
  const { test, api } = world;
  let to: Receiver;
  let loop: WebhookLoop;
  beforeEach(async () => {
    to = await receiver();
    loop = createWebhookLoop(test.app);
    await loop.start();
  });
  afterEach(async () => {
    await loop.stop(0);
    await to.close();
  });

  /** Causes every event of one mailbox. */
  async function live(desk: Desk): Promise<void> {
    const { app, operator } = test;
    const agent = await agentOf(app, operator, desk.id);
    const asAgent = { mailboxId: desk.id };
    await updateMailbox(app, operator, desk.id, { displayName: 'Another name' });
    await pauseMailbox(app, operator, desk.id);
    await resumeMailbox(app, operator, desk.id);
    const question = await desk.arrive();
    await desk.reply(question);
    for (const decide of [approveAction, rejectAction]) {
      const at = { ...asAgent, messageId: question };
      const proposed = await reply(app, agent, at, { text: 'x' }, { all: false, key: null });
      await decide(app, operator, { ...asAgent, actionId: proposed.actionId ?? '' }, {});
    }
    await deleteMailbox(app, operator, desk.id);
  }

  it('come once each, verified, equal to the log', async () => {
    const { app, operator } = test;
    const { secret } = await createWebhook(app, operator, { url: to.url, events: ['mailbox.*'] });
    await live(await deskOf(world));
    await until(() => to.received.length >= 12);
    await loop.idle();
    vi.useFakeTimers({ now: test.clock.now(), toFake: ['Date'] });
    const posted = new Map<string, Posted>();
    try {
      const verifier = new Webhook(secret ?? '');
      for (const { body, headers } of to.received) {
        posted.set(headers['webhook-id'] ?? '', verifier.verify(body, headers) as Posted);
        expect(() => verifier.verify(body.replace('mailbox', 'mailbux'), headers)).toThrow();
      }
    } finally {
      vi.useRealTimers();
    }
    const { body } = await api.get<{ items: (Posted & { id: string })[] }>('/v1/events?limit=100');
    const told = body.items.filter(({ id }) => posted.has(id));
    expect(to.received).toHaveLength(told.length);
    for (const { id, type, timestamp, data } of told) {
      expect(posted.get(id)).toMatchObject({ type, timestamp, data });
    }
    const types = [...posted.values()].map(({ type }) => type);
    expect(types.toSorted((a, b) => a.localeCompare(b))).toEqual([
      'mailbox.action.approved',
      'mailbox.action.proposed',
      'mailbox.action.proposed',
      'mailbox.action.rejected',
      'mailbox.created',
      'mailbox.deleted',
      'mailbox.message.received',
      'mailbox.message.sent',
      'mailbox.message.sent',
      'mailbox.paused',
      'mailbox.resumed',
      'mailbox.updated',
    ]);
  });
});
