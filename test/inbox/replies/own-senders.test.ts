// The From of everything that leaves from a mailbox which is also the catch-all of its domain: an
// address of the mailbox, or its `defaultFrom`. Each road out of a mailbox has a row here.
import { beforeEach, describe, expect, it } from 'vitest';
import { routes } from '../../../daemon/http/routes.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { enableCatchAll } from '../../../src/identity/mailboxes/catch-all.ts';
import { updateMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import type { MailboxAction } from '../../../src/inbox/approvals/schema.ts';
import type { ReplyResult } from '../../../src/inbox/replies/schema.ts';
import { sendMail } from '../../../src/inbox/replies/send.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import type { HttpApi } from '../../support/http-client.ts';
import { apiOf, config, type Desk, deskOf, type Problem } from './world.ts';

const stranger = 'ceo@corp.example';
const to = ['bo@example.com'];
const text = 'Hello';

/** Sends by a road, and returns the answer. `messageId` is a mail that the catch-all received. */
type Road = (by: HttpApi, desk: Desk, messageId: string) => Promise<ReplyResult>;

const post = async (by: HttpApi, path: string, body: object) =>
  (await by.post<ReplyResult>(path, body)).body;

/** A draft that begins a thread, and one that answers. */
const draftSent =
  (begun: (messageId: string) => object): Road =>
  async (by, { path }, messageId) => {
    const draft = { ...begun(messageId), to, text };
    const { body } = await by.post<{ id: string }>(`${path}/drafts`, draft);
    return post(by, `${path}/drafts/${body.id}/send`, {});
  };

const answered =
  (how: string, body: object): Road =>
  (by, { path }, messageId) =>
    post(by, `${path}/messages/${messageId}/${how}`, body);

const mailboxPath = 'POST /v1/mailboxes/{id}';
const roads: Record<string, Road[]> = {
  [`${mailboxPath}/messages`]: [
    (by, { path }) => post(by, `${path}/messages`, { to, subject: 'Hello', text }),
  ],
  [`${mailboxPath}/messages/{messageId}/reply`]: [answered('reply', { text })],
  [`${mailboxPath}/messages/{messageId}/reply-all`]: [answered('reply-all', { text })],
  [`${mailboxPath}/messages/{messageId}/forward`]: [answered('forward', { to })],
  [`${mailboxPath}/drafts/{draftId}/send`]: [
    draftSent(() => ({ subject: 'Hello' })),
    draftSent((inReplyToMessageId) => ({ inReplyToMessageId })),
  ],
};
/** Sends what one of the roads has proposed. */
const approval = `${mailboxPath}/actions/{actionId}/approve`;

it('each route that sends from a mailbox has a row', () => {
  const sending = routes.filter(({ permission }) => permission === 'mailboxes:send');
  const names = sending.map(({ method, path }) => `${method} ${path}`).sort();
  expect([...Object.keys(roads), approval].sort()).toEqual(names);
});

describe.each(stores)('mail from a mailbox that is a catch-all, on %s', (store) => {
  const world = eachApi({ store, config });
  const { test, api } = world;
  let desk: Desk;
  let caught: string;
  let sender: HttpApi;
  let proposer: HttpApi;
  let person: HttpApi;
  beforeEach(async () => {
    const { app, operator } = test;
    const domain = await addDomain(app, operator, { domain: 'corp.example', dkim: 'ed25519' });
    await verifyDomain(app, operator, domain.id, { force: true });
    desk = await deskOf(world);
    await enableCatchAll(app, operator, { domainId: domain.id, mailboxId: desk.id });
    caught = await desk.arrive({ rcpt: [stranger], to: stranger });
    const constraints = { mailboxIds: [desk.id] };
    sender = await apiOf(world, { owner: 'person', constraints });
    proposer = await apiOf(world, { constraints, sendMode: 'approval' });
    person = await apiOf(world, { owner: 'person' });
  });

  const approve = async (actionId: string | null) =>
    (await person.post<MailboxAction & Problem>(`${desk.path}/actions/${actionId}/approve`, {}))
      .body;
  const fromOf = async (messageId: string | null) => (await desk.email(messageId)).fromEmail;
  const each = Object.entries(roads).flatMap(([name, some]) =>
    some.map((road, index) => ({ name: index === 0 ? name : `${name} as an answer`, road })),
  );

  describe.each(each)('by $name', ({ road }) => {
    it('has an address of the mailbox as From', async () => {
      for (const by of [sender, api]) {
        const { messageId } = await road(by, desk, caught);
        expect(await fromOf(messageId)).toBe(desk.address);
      }
    });

    it('has its defaultFrom as From once it has one', async () => {
      const defaultFrom = { address: 'help@corp.example' };
      await updateMailbox(test.app, test.operator, desk.id, { defaultFrom });
      const { messageId } = await road(sender, desk, caught);
      expect(await fromOf(messageId)).toBe('help@corp.example');
    });

    it('is proposed and approved with that From', async () => {
      const { actionId, status } = await road(proposer, desk, caught);
      expect(status).toBe('proposed');
      const { messageId, state } = await approve(actionId);
      expect([state, await fromOf(messageId)]).toEqual(['executed', desk.address]);
    });
  });

  it('is refused with another From, whatever road brought it', async () => {
    const { app, operator } = test;
    const mail = {
      ...({ type: 'sendMessage', threadId: null, inReplyToMessageId: null, draft: null } as const),
      ...{ from: { email: stranger, name: null }, to, cc: [], bcc: [], subject: 'Hello' },
      ...{ text, html: null, attachments: [] },
    };
    for (const sendMode of ['send', 'approval'] as const) {
      const keyId = 'key_0123456789abcdefghjk';
      const caller: Caller = { ...operator, by: { kind: 'key', keyId }, keyId, sendMode };
      const asked = { path: '/planted', body: {}, key: null };
      await expect(sendMail(app, caller, desk.id, mail, asked)).rejects.toMatchObject({
        _tag: 'ForbiddenError',
        message: expect.stringContaining(`${stranger} is no address of ${desk.id}`),
      });
    }
  });

  it('leaves POST /v1/messages to keys that are not bound', async () => {
    const body = { channel: 'email', from: { email: stranger }, to: [{ email: to[0] }] };
    const sent = { ...body, email: { subject: 'Hello', text } };
    const answer = await api.post<{ from: { email: string } }>('/v1/messages', sent);
    expect([answer.status, answer.body.from.email]).toEqual([201, stranger]);
    expect((await sender.post('/v1/messages', sent)).status).toBe(403);
  });
});
