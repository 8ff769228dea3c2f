// Leaving a list by one click (RFC 8058), from the send to the suppression of the next one.
import { createHash } from 'node:crypto';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { routes } from '../../../daemon/http/routes.ts';
import { createHttpServer, type HttpServer } from '../../../daemon/http/server.ts';
import { deleteGroup } from '../../../src/consent/opt-in/group-routes.ts';
import { listLog } from '../../../src/history/events/log.ts';
import { listDomains } from '../../../src/identity/domains/domains.ts';
import { deleteMessage, getMessage } from '../../../src/outbound/messages/messages.ts';
import { sendPayload } from '../../../src/outbound/messages/send-schema.ts';
import { scheduleMessage } from '../../../src/outbound/sending/schedule/schedule.ts';
import { deleteBlock, listBlocks } from '../../../src/people/blocks/blocks.ts';
import { type BlockReason, listBlocksQuery } from '../../../src/people/blocks/schema.ts';
import { blockAddresses } from '../../../src/people/blocks/suppression.ts';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import { createGroup, updateGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { stores } from '../../support/command.ts';
import {
  payloadFor,
  type RunningPipeline,
  send,
  startPipeline,
  timeline,
} from '../../support/delivery.ts';
import { dkimResolver } from '../../support/dkim-resolver.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { otherOrganization } from '../messages/fixtures.ts';
import { leaveByMail } from './leave-by-mail.ts';

const oneClick = 'List-Unsubscribe=One-Click';
const form = 'application/x-www-form-urlencoded';

describe.each(stores)('leaving by one click, on %s', (store) => {
  let test: TestApp;
  let sink: SmtpSink;
  let pipeline: RunningPipeline;
  let server: HttpServer;
  let groupId: string;
  beforeEach(async () => {
    sink = await startSmtpSink();
    const relay = { host: sink.host, port: sink.port };
    const tracking = { publicUrl: 'https://click.example.com' };
    test = await testApp({ store, config: { delivery: { mode: 'relay', relay }, tracking } });
    pipeline = await startPipeline(test.app);
    server = createHttpServer(test.app, {
      routes,
      authenticate: async () => null,
      isQueueRunning: () => true,
    });
    groupId = (await createGroup(test.app, test.caller, { name: 'News <b>' })).id;
  });
  afterEach(async () => {
    await server.close();
    await pipeline.close();
    await test.close();
    await sink.close();
  });

  /** Sends; returns the copy of each recipient by address, with its two ways to leave. */
  const copiesOf = async (to: readonly string[]) => {
    const message = await send(test.app, test.caller, to, {
      email: { unsubscribeGroupId: groupId },
    });
    const mails = await sink.waitFor(to.length);
    await pipeline.idle();
    const copies = mails.map(({ recipients, raw }) => {
      const header =
        raw
          .toString()
          .split('\r\n\r\n')[0]
          ?.replace(/\r\n\s+/g, ' ') ?? '';
      const ways = /^List-Unsubscribe: (.*)$/m.exec(header)?.[1] ?? '';
      const [, path = '', address = ''] =
        /^<https:\/\/click\.example\.com(\/u\/[^>]+)>, <mailto:([^>]+)>$/.exec(ways) ?? [];
      return { recipients, raw, header, path, address };
    });
    return { id: message.id, copies: new Map(copies.map((one) => [one.recipients.join(), one])) };
  };
  const copyTo = async (to: string) => {
    const { id, copies } = await copiesOf([to]);
    const copy = copies.get(to);
    if (!copy) throw new Error(`nothing came to ${to}`);
    return { id, ...copy };
  };
  const leavePageOf = async (from: { email: string; name?: string }) => {
    const email = { unsubscribeGroupId: groupId };
    await send(test.app, test.caller, 'ada@example.com', { from, email });
    const [mail] = await sink.waitFor(1);
    const [, path = ''] =
      /<https:\/\/click\.example\.com(\/u\/[^>]+)>/.exec(mail?.raw.toString() ?? '') ?? [];
    return (await server.inject({ method: 'GET', url: path })).body;
  };
  const post = (url: string, payload = oneClick, type = form) =>
    server.inject({ method: 'POST', url, payload, headers: { 'content-type': type } });
  const blocks = async () =>
    (await listBlocks(test.app, test.caller, listBlocksQuery.parse({}))).items.map(
      ({ address, reason, unsubscribeGroupId }) => [address, reason, unsubscribeGroupId],
    );
  const standing = async (to: string, group?: string) => {
    const email = group === undefined ? {} : { email: { unsubscribeGroupId: group } };
    const { status, deliveries } = await send(test.app, test.caller, to, email);
    return [status, deliveries[0]?.errorCode];
  };

  it('sends each recipient a separate copy with own links inside the signature', async () => {
    const { copies } = await copiesOf(['ada@example.com', 'bob@example.com']);
    expect([...copies.keys()].sort()).toEqual(['ada@example.com', 'bob@example.com']);
    const { items } = await listDomains(test.app, test.caller, { page: 1, limit: 20 });
    for (const { raw, header, path, address } of copies.values()) {
      expect(path).toMatch(/^\/u\/[\w-]{60,}$/);
      expect(address.split('@')[0]).toMatch(/^unsub\+/);
      expect(address.split('@')[0]?.length).toBeLessThanOrEqual(64);
      expect(header).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click$/m);
      const { results } = await dkimVerify(raw, { resolver: dkimResolver(items) });
      expect(results.length).toBeGreaterThan(0);
      for (const { status, signingHeaders } of results) {
        expect(status.result).toBe('pass');
        const keys = signingHeaders?.keys?.toLowerCase().split(/:\s*/) ?? [];
        expect(keys).toEqual(expect.arrayContaining(['list-unsubscribe', 'list-unsubscribe-post']));
      }
    }
    expect(new Set([...copies.values()].map(({ path }) => path)).size).toBe(2);
  });

  it('shows the group with a message', async () => {
    const email = { unsubscribeGroupId: groupId };
    const { id, unsubscribeGroupId } = await send(test.app, test.caller, 'ada@example.com', {
      email,
    });
    expect(unsubscribeGroupId).toBe(groupId);
    expect((await getMessage(test.app, test.caller, id)).unsubscribeGroupId).toBe(groupId);
    const plain = await send(test.app, test.caller, 'ada@example.com');
    expect(plain.unsubscribeGroupId).toBeNull();
  });

  it('blocks a recipient that bounced or complained too, with a block that outlives the other', async () => {
    const { id, path } = await copyTo('ada@example.com');
    const blockFor = (reason: BlockReason) =>
      test.app.store.write((trx) =>
        blockAddresses(test.app, trx, [
          {
            organizationId: test.caller.organizationId,
            address: 'Ada@example.com',
            reason,
            messageId: id,
          },
        ]),
      );
    await blockFor('bounce');
    const page = await server.inject({ method: 'GET', url: path });
    expect(page.body).toContain('gets no mail');
    expect(page.body).toContain('value="leave-all"');
    expect((await post(path, 'action=leave-all')).statusCode).toBe(200);
    await blockFor('complaint');
    expect(await timeline(test.app, test.caller, id)).toContain('unsubscribed:sent');
    expect(new Set((await blocks()).map(([, reason]) => reason))).toEqual(
      new Set(['bounce', 'unsubscribe', 'complaint']),
    );
    const listed = await listBlocks(test.app, test.caller, listBlocksQuery.parse({}));
    for (const reason of ['bounce', 'complaint']) {
      expect(await standing('ada@example.com')).toEqual(['failed', 'suppressed']);
      const one = listed.items.find((item) => item.reason === reason);
      await deleteBlock(test.app, test.caller, one?.id ?? '');
    }
    expect(await standing('ada@example.com')).toEqual(['failed', 'suppressed']);
    expect((await post(path, 'action=return-all')).statusCode).toBe(200);
    expect(await blocks()).toEqual([]);
  });

  it('is undone by coming back, which keeps bounces and complaints', async () => {
    const { id, path } = await copyTo('ada@example.com');
    await post(path, 'action=leave-all');
    const { organizationId } = test.caller;
    await test.app.store.write((trx) =>
      blockAddresses(test.app, trx, [
        { organizationId, address: 'ada@example.com', reason: 'complaint', messageId: id },
      ]),
    );
    const page = await post(path, 'action=return-all');
    expect(page.body).toContain('gets no mail');
    expect(page.body).not.toContain('return-all');
    expect(await blocks()).toEqual([['ada@example.com', 'complaint', null]]);
    await post(path, 'action=return-all');
    expect(await standing('ada@example.com')).toEqual(['failed', 'suppressed']);
  });

  it('adds no fields to mail without a group, which may have its own', async () => {
    const headers = { 'List-Unsubscribe': '<https://own.example/u>' };
    await send(test.app, test.caller, 'ada@example.com', { email: { headers } });
    const [mail] = await sink.waitFor(1);
    expect(mail?.raw.toString()).toContain('List-Unsubscribe: <https://own.example/u>');
    expect(mail?.raw.toString()).not.toContain('List-Unsubscribe-Post');
  });

  it.each([
    ['a form', form, oneClick],
    ['a form with CRLF behind it', form, `${oneClick}\r\n`],
    ['a form with LF behind it', form, `${oneClick}\n`],
    ['a form with CR behind it', form, `${oneClick}\r`],
    ['a form with empty lines behind it', form, `${oneClick}\r\n\r\n`],
    ['a form with a charset', `${form}; charset=utf-8`, `${oneClick}\r\n`],
    ['a form in capitals', form.toUpperCase(), `${oneClick}\n`],
    ['a form with further fields', form, `${oneClick}&a=b\r\n`],
    ['a form with an escape', form, 'List-Unsubscribe=One%2DClick\r\n'],
    [
      'parts',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n',
    ],
  ])('works by a POST of %s: 200, no cookie, no redirect', async (_how, type, body) => {
    const { id, path } = await copyTo('Ada@example.com');
    const { statusCode, headers } = await post(path, body, type);
    expect([statusCode, headers['set-cookie'], headers.location]).toEqual([
      200,
      undefined,
      undefined,
    ]);
    expect((await post(path, body, type)).statusCode).toBe(200);
    expect(await blocks()).toEqual([['Ada@example.com', 'unsubscribe', groupId]]);
    const told = (await timeline(test.app, test.caller, id)).filter((one) =>
      one.startsWith('unsubscribed'),
    );
    expect(told).toEqual(['unsubscribed:sent']);
    const other = (await createGroup(test.app, test.caller, { name: 'Other' })).id;
    expect(await standing('ADA@example.com', groupId)).toEqual(['failed', 'suppressed']);
    expect(await standing('ada@example.com', other)).toEqual(['pending', null]);
    expect(await standing('ada@example.com')).toEqual(['pending', null]);
  });

  it('publishes the contact once, and its leaving of all mail', async () => {
    const contact = await createContact(test.app, test.caller, { email: 'ADA@example.com' });
    const { path } = await copyTo('ada@example.com');
    for (const body of [oneClick, oneClick, 'action=leave-all']) {
      expect((await post(path, body, form)).statusCode).toBe(200);
    }
    const { items } = await listLog(test.app, test.caller, {
      ...{ type: ['contact.unsubscribed'], order: 'asc', limit: 10 },
    });
    const shown = items.map(({ data }) => [data['id'], data['status']]);
    expect(shown).toEqual([
      [contact.id, 'active'],
      [contact.id, 'unsubscribed'],
    ]);
  });

  it('shows a page without a script on GET and HEAD, and changes nothing', async () => {
    const { path } = await copyTo('ada@example.com');
    await server.inject({ method: 'HEAD', url: path });
    const { statusCode, body, headers } = await server.inject({ method: 'GET', url: path });
    expect([statusCode, headers['content-type'], headers['set-cookie']]).toEqual([
      200,
      'text/html; charset=utf-8',
      undefined,
    ]);
    expect(body).toContain('News &#60;b&#62;');
    expect(body).not.toMatch(/<script|<b>/);
    expect(await blocks()).toEqual([]);
    expect((await post(path, 'nothing=asked')).statusCode).toBe(400);
    expect(await blocks()).toEqual([]);
  });

  it.each([
    ['the name in the From', { email: 'news@sandbox.test', name: 'Acme & Co' }, 'Acme &#38; Co'],
    ['the address in a From without a name', { email: 'news@sandbox.test' }, 'news@sandbox.test'],
  ])('names the sender by %s', async (_what, from, shown) => {
    const body = await leavePageOf(from);
    expect(body).toContain(`<p class="sender">${shown}</p>`);
    expect(body).toContain(`<title>Unsubscribe – ${shown}</title>`);
    expect(body).toContain(`Unsubscribe from all mail from ${shown}</button>`);
  });

  it('names the default sender once the message is deleted, never the default organization', async () => {
    const { id, path } = await copyTo('ada@example.com');
    await deleteMessage(test.app, test.caller, id);
    const { body } = await server.inject({ method: 'GET', url: path });
    expect(body).toContain('<p class="sender">Sandbox</p>');
    expect(body).not.toContain('default');
  });

  it('shows the description of the group', async () => {
    const changes = { description: 'Once a month <i>' };
    await updateGroup(test.app, test.caller, groupId, changes);
    const { path } = await copyTo('ada@example.com');
    const { body } = await server.inject({ method: 'GET', url: path });
    expect(body).toContain('<p class="note">News &#60;b&#62;: Once a month &#60;i&#62;</p>');
  });

  it('allows its style by a hash', async () => {
    const { path } = await copyTo('ada@example.com');
    const { body, headers } = await server.inject({ method: 'GET', url: path });
    const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(body) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toContain(`style-src 'sha256-${hash}'`);
  });

  it('of all mail and coming back lifts exactly its own block', async () => {
    const { path } = await copyTo('ada@example.com');
    await post(path);
    const { body } = await post(path, 'action=leave-all');
    expect(body).toContain('gets no mail');
    expect(await standing('ada@example.com')).toEqual(['failed', 'suppressed']);
    await post(path, 'action=return-all');
    expect(await blocks()).toEqual([['ada@example.com', 'unsubscribe', groupId]]);
    expect(await standing('ada@example.com')).toEqual(['pending', null]);
    expect(await standing('ada@example.com', groupId)).toEqual(['failed', 'suppressed']);
    await post(path, 'action=return');
    expect(await blocks()).toEqual([]);
  });

  it('works by a mail to the other address, which is not stored', async () => {
    const { id, address } = await copyTo('ada@example.com');
    expect(await leaveByMail(test.app, address)).toBe('stored 0');
    expect(await blocks()).toEqual([['ada@example.com', 'unsubscribe', groupId]]);
    expect((await timeline(test.app, test.caller, id)).at(-1)).toBe('unsubscribed:sent');
    expect(
      await leaveByMail(
        test.app,
        address.replace(/.(?=@)/, (last) => (last === '0' ? '1' : '0')),
      ),
    ).toBe('550 5.1.1');
    expect(await leaveByMail(test.app, address.replace(/@.*/, '@elsewhere.example'))).toBe(
      '550 5.1.1',
    );
  });

  it.each(['link', 'mail'])('works by the %s when message and group are deleted', async (way) => {
    const { id, path, address } = await copyTo('ada@example.com');
    await deleteMessage(test.app, test.caller, id);
    await deleteGroup(test.app, test.caller, groupId);
    if (way === 'link') expect((await post(path)).statusCode).toBe(200);
    else expect(await leaveByMail(test.app, address)).toBe('stored 0');
    expect(await blocks()).toEqual([['ada@example.com', 'unsubscribe', groupId]]);
  });

  it('answers forged, cut and foreign tokens with 404', async () => {
    const { path } = await copyTo('ada@example.com');
    const other = path.at(20) === 'A' ? 'B' : 'A';
    const forged = [
      path.slice(0, 20) + other + path.slice(21),
      path.slice(0, -4),
      `${path}A`,
      '/u/x',
      '/u/',
      `/u/${'A'.repeat(2_000)}`,
    ];
    for (const url of forged) expect([url, (await post(url)).statusCode]).toEqual([url, 404]);
    expect(await blocks()).toEqual([]);
  });

  it('stops queued mail of the group', async () => {
    const { path } = await copyTo('ada@example.com');
    const email = { unsubscribeGroupId: groupId };
    await pipeline.stop(0);
    const queued = await send(test.app, test.caller, 'ada@example.com', { email });
    await post(path);
    const again = await startPipeline(test.app, { worker: 'wrk_again' });
    await again.idle();
    await again.close();
    const { deliveries } = await getMessage(test.app, test.caller, queued.id);
    expect(deliveries).toMatchObject([{ status: 'failed', errorCode: 'suppressed' }]);
  });

  it('stops scheduled mail of the group', async () => {
    const { path } = await copyTo('ada@example.com');
    const scheduledFor = test.clock.now() + 3_600_000;
    const later = async (email: object) => {
      const payload = payloadFor(['ada@example.com', 'bob@example.com'], { email });
      const { id } = await scheduleMessage(test.app, test.caller, { ...payload, scheduledFor });
      return id;
    };
    const ofGroup = await later({ unsubscribeGroupId: groupId });
    const ofNone = await later({});
    await post(path);
    await test.clock.advance(3_700_000);
    await pipeline.idle();
    const endings = async (id: string) =>
      (await getMessage(test.app, test.caller, id)).deliveries.map(({ errorCode }) => errorCode);
    expect(await endings(ofGroup)).toEqual(['suppressed', null]);
    expect(await endings(ofNone)).toEqual([null, null]);
  });

  it("rejects the sender's own List-Unsubscribe beside a group with 422", () => {
    const email = { subject: 'S', text: 'T', unsubscribeGroupId: groupId };
    const to = [{ email: 'ada@example.com' }];
    const headers = { 'list-unsubscribe': '<https://own.example/u>' };
    const asked = sendPayload.safeParse({ channel: 'email', to, email: { ...email, headers } });
    expect(asked.error?.issues.map(({ path }) => path.join('.'))).toEqual(['email.headers']);
  });

  it('rejects an unknown group and one of another organization as not found', async () => {
    const unknown = { email: { unsubscribeGroupId: 'usg_06dq2k0qz8h3v5m1r9t4w7xy' } };
    await expect(send(test.app, test.caller, 'ada@example.com', unknown)).rejects.toMatchObject({
      resource: 'unsubscribe-group',
      id: 'usg_06dq2k0qz8h3v5m1r9t4w7xy',
    });
    const { caller } = await otherOrganization(test.app);
    const { id } = await createGroup(test.app, caller, { name: 'Theirs' });
    const theirs = { email: { unsubscribeGroupId: id } };
    await expect(send(test.app, test.caller, 'ada@example.com', theirs)).rejects.toMatchObject({
      resource: 'unsubscribe-group',
      id,
    });
  });
});
