// The author of received mail is known as RFC 5322 allows to write him, and an answer goes to him.
// Without a readable author nothing is sent.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { updateMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { repository } from '../../support/cli.ts';
import { eachApi } from '../../support/each-app.ts';
import { arriveRaw, threadsOver } from '../threads/mails.ts';
import { config, type Desk, deskOf } from './world.ts';

const folder = join(repository, 'test/fixtures/authors');
const authors: Record<string, { email: string; name: string | null } | null> = JSON.parse(
  readFileSync(join(folder, 'authors.json'), 'utf8'),
);
const names = readdirSync(folder).flatMap((file) =>
  file.endsWith('.eml') ? file.slice(0, -4) : [],
);
const known = names.filter((name) => authors[name]);
const unknown = names.filter((name) => authors[name] === null);

describe('the author of received mail', () => {
  const world = eachApi({ config });
  const { test, api } = world;
  let desk: Desk;
  beforeEach(async () => {
    desk = await deskOf(world);
  });

  const arrive = (name: string) =>
    arriveRaw(test.app, readFileSync(join(folder, `${name}.eml`)), desk.address);

  it.each(known)('gets the answer: %s', async (name) => {
    const id = await arrive(name);
    const { body } = await api.get<{ from: object }>(`/v1/messages/${id}`);
    expect(body.from).toMatchObject(authors[name] ?? {});
    const answer = await desk.reply(id);
    expect(answer).toMatchObject({ status: 201, body: { status: 'sent', skippedRecipients: [] } });
    const sent = await desk.email(answer.body.messageId);
    expect(sent.toEmails).toEqual([authors[name]?.email]);
  });

  it.each(known)('is the one that the filters of the mailbox block: %s', async (name) => {
    const filters = { allow: [], block: [authors[name]?.email ?? ''] };
    await updateMailbox(test.app, test.caller, desk.id, { filters });
    await arrive(name);
    const threads = await threadsOver(test.app, api, desk.address);
    expect((await threads.list('?folder=spam')).items).toHaveLength(1);
  });

  it.each(unknown)('that cannot be read gets no answer: %s', async (name) => {
    const id = await arrive(name);
    for (const how of ['reply', 'reply-all']) {
      const { status, body } = await desk.reply(id, { text: 'Thank you' }, api, how);
      expect([status, body]).toMatchObject([
        409,
        { _tag: 'ConflictError', resource: 'message', message: expect.stringContaining(id) },
      ]);
    }
  });

  it('that cannot be read is replaced by a readable Reply-To', async () => {
    const raw = readFileSync(join(folder, 'nobody.eml'), 'latin1');
    const mail = Buffer.from(`Reply-To: joe . doe@example.com\r\n${raw}`, 'latin1');
    const answer = await desk.reply(await arriveRaw(test.app, mail, desk.address));
    expect((await desk.email(answer.body.messageId)).toEmails).toEqual(['joe.doe@example.com']);
  });

  it('that cannot be read leaves the recipients of a draft to its writer', async () => {
    const id = await arrive('nobody');
    const { status, body } = await api.post(`${desk.path}/drafts`, { inReplyToMessageId: id });
    expect([status, body]).toMatchObject([201, { to: [], cc: [] }]);
  });

  it('that no mail can be sent to gets a conflict, not silence', async () => {
    const id = await desk.arrive({ from: 'root@localhost' });
    expect(await desk.reply(id)).toMatchObject({
      status: 409,
      body: { _tag: 'ConflictError', message: expect.stringContaining('root@localhost') },
    });
  });
});

describe('an answer', () => {
  const world = eachApi({ config });
  let desk: Desk;
  beforeEach(async () => {
    desk = await deskOf(world);
  });
  const recipientsOf = async (id: string, how = 'reply') => {
    const { body } = await desk.reply(id, { text: 'Thank you' }, world.api, how);
    const { toEmails, ccEmails } = await desk.email(body.messageId);
    return [toEmails, ccEmails ?? []];
  };

  it('goes to the author where Reply-To is the mailbox', async () => {
    const headers = [`Reply-To: ${desk.address}`];
    const id = await desk.arrive({ headers });
    expect(await recipientsOf(id)).toEqual([['ada@example.com'], []]);
    expect(await recipientsOf(id, 'reply-all')).toEqual([['ada@example.com'], []]);
  });

  it('goes to the author where mail cannot be sent to Reply-To', async () => {
    const id = await desk.arrive({ headers: ['Reply-To: root@localhost'] });
    expect(await recipientsOf(id)).toEqual([['ada@example.com'], []]);
  });

  it('to a copy of our own mail goes to its recipients', async () => {
    const id = await desk.arrive({ from: desk.address, to: 'bo@example.com', cc: desk.address });
    expect(await recipientsOf(id)).toEqual([['bo@example.com'], []]);
  });

  it('to a mail of the mailbox to itself is a conflict', async () => {
    const id = await desk.arrive({ from: desk.address });
    for (const how of ['reply', 'reply-all']) {
      expect(await desk.reply(id, { text: 'Hello' }, world.api, how)).toMatchObject({
        status: 409,
        body: { _tag: 'ConflictError', resource: 'message' },
      });
    }
    const copied = await desk.reply(id, { text: 'Hello', cc: ['bo@example.com'] });
    expect(copied).toMatchObject({ status: 201, body: { status: 'sent' } });
  });

  it('to everybody leaves out the addresses that reach the mailbox as catch-all', async () => {
    const { test, api } = world;
    const { body: domains } = await api.get<{ items: { id: string; domain: string }[] }>(
      '/v1/email/domains',
    );
    const [domain] = domains.items;
    const enabled = await api.post('/v1/email/catch-all/enable', {
      domainId: domain?.id,
      mailboxId: desk.id,
    });
    expect(enabled.status).toBe(200);
    const at = domain?.domain ?? '';
    const raw = [
      `From: Ada <ada@example.com>`,
      `To: sales@${at}, other+tag@${at}`,
      `Cc: bo@example.com, ${desk.address}`,
      'Message-ID: <all@example.com>',
      '',
      'Hello',
      '',
    ].join('\r\n');
    const id = await arriveRaw(test.app, Buffer.from(raw), `sales@${at}`);
    expect(await recipientsOf(id, 'reply-all')).toEqual([['ada@example.com'], ['bo@example.com']]);
  });
});
