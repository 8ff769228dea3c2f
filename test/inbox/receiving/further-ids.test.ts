// A relay replaces our Message-ID: the id in its 250 is a further one of the message, and its
// answer is known.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { deleteMessage } from '../../../src/outbound/messages/messages.ts';
import { settleAll } from '../../../src/outbound/queue/settling/settle.ts';
import { createConversation } from '../../../src/people/conversations/conversations.ts';
import { claim, rowOf } from '../../outbound/queue/entries.ts';
import { stores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { eachApi } from '../../support/each-app.ts';
import { config, deskOf } from '../replies/world.ts';

const left = '0102018c7a1b2c3d-01234567-89ab-cdef-0123-456789abcdef-000000';
const inReplyTo = `${left}@eu-west-1.amazonses.example`;

describe.each(stores)('the id of a relay, on %s', (store) => {
  const world = eachApi({ store, config });
  const { test, api } = world;

  /** Ends the delivery of a message with a 250, as a relay or an MX says it. */
  async function accept(messageId: string, text: string, routeKind = 'relay'): Promise<void> {
    await claim(test.app);
    const delivery = await rowOf(test.app, messageId);
    const nothing = { host: 'relay.example', address: null, tls: null, transcript: '' };
    const trace = { ...nothing, startedAt: test.clock.now(), durationMs: 1 };
    const reply = { code: 250, enhancedCode: null, text, verb: 'dot' };
    const ends = { sentIsDelivered: false, aftermath: null, isSole: true };
    const settlement = { delivery, fromEmail: 'desk@sandbox.test', routeKind, ...ends };
    await test.app.store.write((trx) =>
      settleAll(test.app, trx, 'wrk_test', [
        { ...settlement, outcome: { kind: 'sent', reply, trace } },
      ]),
    );
  }

  const furtherIds = async () =>
    (
      await sql<{ left_half: string }>`select left_half from further_message_ids`.execute(
        test.app.store.db,
      )
    ).rows;

  it.each([inReplyTo, `${left}@email.amazonses.example`, `${left}@whatever.example`])(
    'joins the answer to the thread of the message: %s',
    async (answered) => {
      const desk = await deskOf(world);
      const { body } = await desk.send({
        to: ['ada@example.com'],
        subject: 'Hello',
        text: 'Hello',
      });
      await accept(body.messageId ?? '', `Ok ${left}`);
      const from = 'Secretary <office@elsewhere.example>';
      const id = await desk.arrive({ from, subject: 'Other words', inReplyTo: answered });
      const path = `${desk.path}/threads/${body.threadId}/messages`;
      const { body: thread } = await api.get<{ items: { id: string }[] }>(path);
      expect(thread.items.map((one) => one.id)).toEqual([body.messageId, id]);
    },
  );

  it('joins the answer to the conversation of the message', async () => {
    const desk = await deskOf(world);
    const { id } = await createConversation(test.app, test.caller, { title: 'A late invoice' });
    const sent = await send(test.app, test.caller, 'ada@example.com', { conversationId: id });
    await accept(sent.id, `Ok ${left}`);
    const answer = await desk.arrive({ inReplyTo });
    const { body } = await api.get<{ conversationId: string }>(`/v1/messages/${answer}`);
    expect(body.conversationId).toBe(id);
  });

  it('is not kept for an MX, or where the relay names ours', async () => {
    const first = await send(test.app, test.caller, 'ada@example.com');
    await accept(first.id, `Ok ${left}`, 'direct');
    const second = await send(test.app, test.caller, 'bo@example.com');
    await accept(second.id, `OK <${second.id}@sandbox.test> queued`);
    expect(await furtherIds()).toEqual([]);
  });

  it('goes with its message', async () => {
    const sent = await send(test.app, test.caller, 'ada@example.com');
    await accept(sent.id, `Ok ${left}`);
    expect(await furtherIds()).toEqual([{ left_half: left }]);
    await deleteMessage(test.app, test.caller, sent.id);
    expect(await furtherIds()).toEqual([]);
  });
});
