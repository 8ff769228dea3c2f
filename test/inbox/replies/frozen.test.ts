// A proposal is the whole mail, frozen at its creation: the mail that the person sees and downloads
// is sent byte for byte, after any change of the mailbox, its draft or the answered mail.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../../src/access/keys/keys.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import {
  addAddress,
  deleteMailbox,
  removeAddress,
  updateMailbox,
} from '../../../src/identity/mailboxes/mailboxes.ts';
import { createSender } from '../../../src/identity/senders/senders.ts';
import type { MailboxAction, ShownAction } from '../../../src/inbox/approvals/schema.ts';
import type { Draft, ReplyResult } from '../../../src/inbox/replies/schema.ts';
import { readRawMail } from '../../../src/outbound/sending/stored-parts.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import type { HttpApi } from '../../support/http-client.ts';
import { sha256, withoutSendingFields } from './sent-bytes.ts';
import { apiOf, config, type Desk, deskOf, type Listed, type Problem, rowsIn } from './world.ts';

const pdf = { filename: 'offer.pdf', contentType: 'application/pdf', content: 'JVBERi0xLjQ=' };
const note = { filename: 'note.txt', contentType: 'text/plain', content: 'Zm9yIHlvdQ==' };

describe.each(stores)('a frozen proposal on %s', (store) => {
  const world = eachApi({ store, config });
  const { test, api } = world;
  let desk: Desk;
  let agent: HttpApi;
  let person: HttpApi;
  beforeEach(async () => {
    desk = await deskOf(world);
    const { key } = await createKey(test.app, test.operator, {
      name: 'agent',
      role: 'developer',
      constraints: { mailboxIds: [desk.id] },
      sendMode: 'approval',
    });
    agent = api.as(key ?? '');
    person = await apiOf(world, { owner: 'person', name: 'Ada' });
  });

  const at = (id: string | null, rest = '') => `${desk.path}/actions/${id}${rest && `/${rest}`}`;
  const approve = async (id: string | null, body: object = {}) =>
    (await person.post<MailboxAction & Problem>(at(id, 'approve'), body)).body;
  const shown = async (id: string | null) => (await api.get<ShownAction>(at(id))).body;
  const raw = async (id: string | null) => {
    const { status, body, headers } = await api.bytes(at(id, 'raw'));
    expect([status, headers['content-type']]).toEqual([200, 'message/rfc822']);
    return body;
  };
  const sentRaw = async (id: string | null) =>
    (await readRawMail(test.app, test.operator, id ?? '')).body;
  const news = { to: ['bo@example.com'], subject: 'News', text: 'Hello' };

  async function proposed(body: object = news): Promise<string> {
    const { status, body: result } = await desk.send(body, agent);
    expect([status, result.status]).toEqual([201, 'proposed']);
    return result.actionId ?? '';
  }

  it('shows the whole envelope, with type, size and digest of its attachments', async () => {
    await createSender(test.app, test.operator, {
      email: desk.address,
      replyToEmails: ['answers@example.com'],
    });
    const id = await proposed({
      ...news,
      cc: ['cy@example.com'],
      bcc: ['blind@example.com'],
      html: '<p>Hello</p>',
      attachments: [pdf, note],
    });
    const action = await shown(id);
    expect(action.summary).toMatchObject({
      from: `The desk <${desk.address}>`,
      replyTo: ['answers@example.com'],
      to: ['bo@example.com'],
      cc: ['cy@example.com'],
      bcc: ['blind@example.com'],
      subject: 'News',
      attachments: 2,
    });
    expect(action.content).toEqual({
      from: { email: desk.address, name: 'The desk' },
      replyTo: ['answers@example.com'],
      to: ['bo@example.com'],
      cc: ['cy@example.com'],
      bcc: ['blind@example.com'],
      subject: 'News',
      text: 'Hello',
      html: '<p>Hello</p>',
      notes: [],
      attachments: [
        {
          n: 1,
          filename: 'offer.pdf',
          contentType: 'application/pdf',
          contentId: null,
          size: 8,
          digest: sha256('%PDF-1.4'),
        },
        {
          n: 2,
          filename: 'note.txt',
          contentType: 'text/plain',
          contentId: null,
          size: 7,
          digest: sha256('for you'),
        },
      ],
    });
  });

  it('serves its MIME with blind copies behind Cc, with the SHA-256 in `digest`', async () => {
    const bcc = ['blind@example.com', 'other@example.com'];
    const id = await proposed({ ...news, cc: ['cy@example.com'], bcc, attachments: [pdf] });
    const bytes = await raw(id);
    const { digest } = await shown(id);
    expect(digest).toBe(sha256(bytes));
    const text = bytes.toString('latin1');
    expect(text).toContain(`From: The desk <${desk.address}>\r\n`);
    expect(text).toContain('filename=offer.pdf');
    expect(text).toContain(
      '\r\nCc: cy@example.com\r\nBcc: blind@example.com, other@example.com\r\n',
    );
    expect(text).not.toMatch(/^(?:date|message-id):/im);
  });

  it('serves its attachments by number', async () => {
    const id = await proposed({ ...news, attachments: [pdf, note] });
    const { body, headers } = await api.bytes(at(id, 'attachments/2'));
    expect([body.toString(), headers['content-type']]).toEqual(['for you', 'text/plain']);
    expect(headers['content-disposition']).toContain('note.txt');
    expect((await api.get(at(id, 'attachments/3'))).status).toBe(404);
    expect((await api.get(at(id, 'attachments/0'))).status).toBe(422);
  });

  it('is sent byte for byte as shown, with its file', async () => {
    const id = await proposed({ ...news, html: '<p>Hello</p>', attachments: [pdf] });
    const bytes = await raw(id);
    await test.clock.advance(60_000);
    const { messageId, digest, editedDigest } = await approve(id);
    const sent = await sentRaw(messageId);
    expect(withoutSendingFields(sent).equals(bytes)).toBe(true);
    expect(sent.toString('latin1')).toMatch(/^(?:Message-ID|Date): .*\r\n(?:Message-ID|Date): /m);
    expect([digest, editedDigest]).toEqual([sha256(bytes), null]);
    expect(await desk.email(messageId)).toMatchObject({
      text: 'Hello',
      html: '<p>Hello</p>',
      attachments: [{ filename: 'offer.pdf', size: 8 }],
    });
  });

  it('is sent from the frozen From after the mailbox changes', async () => {
    const { app, operator } = test;
    const domain = await addDomain(app, operator, { domain: 'corp.example', dkim: 'ed25519' });
    await verifyDomain(app, operator, domain.id, { force: true });
    const ceo = { address: 'ceo@corp.example', displayName: 'The chief' };
    const mailbox = await addAddress(app, operator, desk.id, ceo);
    await updateMailbox(app, operator, desk.id, { defaultFrom: ceo });
    const chief = await proposed();
    await updateMailbox(app, operator, desk.id, { defaultFrom: null, displayName: 'Another' });
    const added = mailbox.addresses.find(({ address }) => address === ceo.address);
    await removeAddress(app, operator, desk.id, added?.id ?? '');
    expect((await shown(chief)).content?.from).toEqual({
      email: 'ceo@corp.example',
      name: 'The chief',
    });
    const bytes = await raw(chief);
    const { messageId } = await approve(chief);
    expect(await desk.email(messageId)).toMatchObject({ fromEmail: 'ceo@corp.example' });
    expect(withoutSendingFields(await sentRaw(messageId)).equals(bytes)).toBe(true);
  });

  it('keeps its Reply-To after the sender changes', async () => {
    const sender = await createSender(test.app, test.operator, {
      email: desk.address,
      replyToEmails: ['first@example.com'],
    });
    const id = await proposed();
    const body = { replyToEmails: ['second@example.com'] };
    await api.request('PATCH', `/v1/email/senders/${sender.id}`, { body });
    const { messageId } = await approve(id);
    expect((await sentRaw(messageId)).toString()).toContain('Reply-To: first@example.com\r\n');
  });

  it('still answers a mail that is deleted meanwhile, in the same words and threading', async () => {
    const answered = await desk.arrive();
    const { body } = await desk.reply(answered, { text: 'Thank you' }, agent);
    const bytes = await raw(body.actionId);
    for (let i = 0; i < 2; i++) await api.delete(`${desk.path}/threads/${body.threadId}`);
    const action = await approve(body.actionId);
    expect([action.state, action.failure]).toEqual(['executed', null]);
    expect(bytes.toString()).toMatch(/^In-Reply-To: </m);
    expect(withoutSendingFields(await sentRaw(action.messageId)).equals(bytes)).toBe(true);
  });

  it('freezes a draft at its send by the key', async () => {
    const draft = await agent.post<Draft>(`${desk.path}/drafts`, news);
    const url = `${desk.path}/drafts/${draft.body.id}`;
    const { body } = await agent.post<ReplyResult>(`${url}/send`, undefined);
    await test.app.store.write((trx) => sql`update drafts set text = 'Pay me'`.execute(trx));
    const { messageId } = await approve(body.actionId);
    expect(await desk.email(messageId)).toMatchObject({ text: 'Hello' });
    expect((await api.get(url)).status).toBe(404);
  });

  it('freezes the files of a forwarded mail', async () => {
    const attached = [
      'Content-Type: application/zip; name="a.zip"',
      'Content-Disposition: attachment; filename="a.zip"',
    ];
    const messageId = await desk.arrive({
      headers: ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'],
      text: ['--b', '', 'see below', '--b', ...attached, '', 'zip', '--b--'].join('\r\n'),
    });
    const to = { to: ['bo@example.com'] };
    const { body } = await desk.reply(messageId, to, agent, 'forward');
    const action = await shown(body.actionId);
    expect(action.content?.attachments).toMatchObject([{ filename: 'a.zip', size: 3 }]);
    const { items } = (await api.get<Listed<{ id: string }>>(`${desk.path}/threads`)).body;
    for (let i = 0; i < 2; i++) await api.delete(`${desk.path}/threads/${items[0]?.id}`);
    const file = await api.bytes(at(body.actionId, 'attachments/1'));
    expect(file.body.toString()).toBe('zip');
    const executed = await approve(body.actionId);
    expect(await desk.email(executed.messageId)).toMatchObject({
      attachments: [{ filename: 'a.zip', size: 3 }],
    });
  });

  it('becomes another mail with a digest of its own when the person edits it', async () => {
    const id = await proposed({ ...news, attachments: [pdf] });
    const before = await shown(id);
    await updateMailbox(test.app, test.operator, desk.id, { displayName: 'Another' });
    const action = await approve(id, { edits: { text: 'Hello Bo' } });
    expect(action).toMatchObject({ digest: before.digest, decidedBy: { displayName: 'Ada' } });
    const sent = await sentRaw(action.messageId);
    expect(action.editedDigest).toBe(sha256(withoutSendingFields(sent)));
    expect(action.editedDigest).not.toBe(before.digest);
    expect(sent.toString()).toContain(`From: The desk <${desk.address}>\r\n`);
    expect(await desk.email(action.messageId)).toMatchObject({
      text: 'Hello Bo',
      attachments: [{ filename: 'offer.pdf', size: 8 }],
    });
  });

  it('is not composed again for edits that change nothing', async () => {
    const id = await proposed();
    const bytes = await raw(id);
    const action = await approve(id, { edits: { text: 'Hello', cc: [] } });
    expect(action.editedDigest).toBeNull();
    expect(withoutSendingFields(await sentRaw(action.messageId)).equals(bytes)).toBe(true);
  });

  it('is refused from a sender that may not send', async () => {
    const sender = await createSender(test.app, test.operator, { email: desk.address });
    const url = `/v1/email/senders/${sender.id}`;
    await api.request('PATCH', url, { body: { isActive: false } });
    const { status, body } = await desk.send(news, agent);
    expect([status, body._tag]).toEqual([403, 'ForbiddenError']);
    expect(await rowsIn(test)).toMatchObject({ mailbox_actions: 0, mailbox_proposals: 0 });
  });

  it('deletes its parts once it is decided', async () => {
    const approved = await proposed({ ...news, attachments: [pdf] });
    const rejected = await proposed({ ...news, attachments: [pdf] });
    await approve(approved);
    await person.post(at(rejected, 'reject'), {});
    for (const id of [approved, rejected]) {
      expect((await api.get(at(id, 'raw'))).status).toBe(404);
      expect((await api.get(at(id, 'attachments/1'))).status).toBe(404);
      expect((await shown(id)).digest).toMatch(/^sha256:/);
    }
    expect(await partsLeft()).toBe(0);
  });

  it('deletes its parts with its mailbox', async () => {
    await proposed({ ...news, attachments: [pdf] });
    await deleteMailbox(test.app, test.operator, desk.id);
    await test.app.store.write((trx) =>
      sql`delete from mailboxes where id = ${desk.id}`.execute(trx),
    );
    expect(await partsLeft()).toBe(0);
  });

  async function partsLeft(): Promise<number> {
    const rows = sql<{ n: number }>`select count(*) as n from mailbox_proposal_parts`;
    return Number((await rows.execute(test.app.store.db)).rows[0]?.n);
  }

  it('is refused with 413 beyond one gigabyte of proposals in the mailbox', async () => {
    const id = await proposed();
    await test.app.store.write((trx) =>
      sql`update mailbox_actions set proposal_bytes = 1073741824 where id = ${id}`.execute(trx),
    );
    const refused = await desk.send(news, agent);
    expect([refused.status, refused.body.message]).toEqual([
      413,
      expect.stringContaining('svc mailboxes review'),
    ]);
    await person.post(at(id, 'reject'), {});
    await proposed();
  });

  it('answers another organization like a proposal that does not exist', async () => {
    const other = await createOrganization(test.app, { name: 'other', plan: 'self-hosted' });
    const id = await proposed();
    const theirs = await createKey(
      test.app,
      { ...test.operator, organizationId: other.id },
      { role: 'owner', owner: 'person' },
    );
    const stranger = api.as(theirs.key ?? '');
    const body = { edits: { text: null } };
    const [foreign, unknown] = [
      await stranger.post<Problem>(at(id, 'approve'), body),
      await stranger.post<Problem>(at(test.app.newId('mailboxAction'), 'approve'), body),
    ];
    expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
    for (const rest of ['raw', 'attachments/1']) {
      expect((await stranger.get(at(id, rest))).status).toBe(404);
    }
  });

  it('answers another mailbox with 404 before the body is validated', async () => {
    const id = await proposed();
    const other = await deskOf(world, 'other');
    const url = `${other.path}/actions/${id}/approve`;
    const { status, body } = await person.post<Problem>(url, { edits: { text: null } });
    expect([status, body._tag]).toEqual([404, 'ResourceNotFoundError']);
  });
});
