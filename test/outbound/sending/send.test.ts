// Sending (specification 2.2, 4.1, 4.2): the whole answer, the stored rows, and the refusals of
// unknown references. Wrong fields are send-validation.test.ts.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../../src/access/keys/keys.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createSender, updateSender } from '../../../src/identity/senders/senders.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { sendPayload } from '../../../src/outbound/messages/send-schema.ts';
import { sendMessage } from '../../../src/outbound/sending/send.ts';
import { bothStores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import {
  noRows,
  oneMessage,
  otherOrganization,
  payload,
  rowCounts,
  send,
  timeline,
} from '../messages/fixtures.ts';

const now = '2026-01-05T12:00:00.000Z';
const idOf = (prefix: string) =>
  expect.stringMatching(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{24}$`));

describe.each(bothStores)('sending on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  beforeEach(async () => {
    test = await testApp({ store });
    api = httpApi(test);
  });
  afterEach(async () => {
    await api.close();
    await test.close();
  });

  const post = (body: unknown, face = api) => face.post<Message>('/v1/messages', body);

  const pendingDelivery = (messageId: string, recipientId: string) => ({
    id: idOf('dlv'),
    messageId,
    recipientId,
    channel: 'email',
    status: 'pending',
    attemptCount: 0,
    // The first attempt, and after 951 minutes of eight retries seven more of 480 within 72 hours.
    maxAttempts: 17,
    queuedAt: now,
    claimedAt: null,
    lastAttemptAt: null,
    nextRetryAt: null,
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    failedAt: null,
    terminalAt: null,
    errorCode: null,
    errorMessage: null,
    errorDetails: null,
    cost: '0',
    currency: 'USD',
    idempotencyKey: null,
    metadata: null,
    createdAt: now,
    updatedAt: now,
    scheduling: {
      ...{ dueAt: now, expiresAt: '2026-01-08T12:00:00.000Z' },
      ...{ waitReason: null, hold: null },
    },
    attempts: [],
  });

  it('answers 201 with the whole message, pending, with one delivery for each recipient', async () => {
    const { status, headers, body } = await post(
      payload(
        { html: '<p>It works.</p>', replyTo: ['help@example.com', 'Second@Example.com'] },
        {
          to: [{ email: 'ada@example.com', name: 'Ada' }, { email: 'Bob@EXAMPLE.com' }],
          cc: [{ email: 'cy@example.com' }],
          bcc: [{ email: 'di@example.com', name: 'Dï' }],
          from: { email: 'news@sandbox.test', name: 'News' },
          tags: ['welcome', 'b'],
          metadata: { order: 7, vip: true, note: null, name: 'x' },
        },
      ),
    );
    expect(status).toBe(201);
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    });
    const parties = [
      { kind: 'to', email: 'ada@example.com', name: 'Ada', contactId: null },
      { kind: 'to', email: 'Bob@example.com', name: null, contactId: null },
      { kind: 'cc', email: 'cy@example.com', name: null, contactId: null },
      { kind: 'bcc', email: 'di@example.com', name: 'Dï', contactId: null },
    ];
    const partiesOf = (wanted: string) =>
      parties.filter(({ kind }) => kind === wanted).map(({ kind: _, ...party }) => party);
    expect(body).toEqual({
      id: idOf('msg'),
      organizationId: test.caller.organizationId,
      channel: 'email',
      direction: 'outbound',
      status: 'pending',
      conversationId: null,
      campaignRunId: null,
      unsubscribeGroupId: null,
      subject: 'Hello',
      from: { email: 'news@sandbox.test', name: 'News' },
      replyTo: ['help@example.com', 'Second@example.com'],
      to: partiesOf('to'),
      cc: partiesOf('cc'),
      bcc: partiesOf('bcc'),
      recipients: parties.map((party) => ({ id: idOf('rcp'), ...party, status: 'pending' })),
      deliveries: body.recipients.map(({ id }) => pendingDelivery(body.id, id)),
      templateId: null,
      templateVersion: null,
      tags: ['welcome', 'b'],
      metadata: { order: 7, vip: true, note: null, name: 'x' },
      tracking: { opens: false, clicks: false },
      scheduledFor: null,
      resendOf: null,
      origin: {
        via: 'api',
        keyId: test.caller.keyId,
        keyName: test.caller.keyName,
        user: null,
      },
      createdAt: now,
      updatedAt: now,
    });
    expect((await api.get(`/v1/messages/${body.id}`)).body).toEqual(body);
    expect(await timeline(api, body.id)).toEqual(['accepted pending']);
    expect(await rowCounts(test.app)).toEqual({ ...oneMessage, recipients: 4, deliveries: 4 });
  });

  it('leaves absent fields empty', async () => {
    const message = await send(api, payload());
    expect(message).toMatchObject({ replyTo: null, cc: [], bcc: [], tags: [], metadata: {} });
    expect(await rowCounts(test.app)).toEqual(oneMessage);
  });

  it('merges repeated addresses into the first mention: to, then cc, then bcc', async () => {
    const message = await send(
      api,
      payload(
        {},
        {
          to: [{ email: 'ada@example.com', name: 'Ada' }, { email: 'ADA@example.COM' }],
          cc: [{ email: 'Ada@Example.com' }, { email: 'bob@example.com' }],
          bcc: [{ email: 'bob@example.com' }, { email: 'cy@example.com' }],
        },
      ),
    );
    expect(message.recipients.map(({ kind, email, name }) => [kind, email, name])).toEqual([
      ['to', 'ada@example.com', 'Ada'],
      ['cc', 'bob@example.com', null],
      ['bcc', 'cy@example.com', null],
    ]);
    expect(message.deliveries.map(({ recipientId }) => recipientId)).toEqual(
      message.recipients.map(({ id }) => id),
    );
  });

  it('accepts internationalized addresses: domains as A-labels, local parts unchanged', async () => {
    const { to } = await send(
      api,
      payload({}, { to: [{ email: 'jörg@münchen.example' }, { email: 'a@BÜCHER.example' }] }),
    );
    expect(to.map(({ email }) => email)).toEqual([
      'jörg@xn--mnchen-3ya.example',
      'a@xn--bcher-kva.example',
    ]);
  });

  it('keeps text beyond ASCII', async () => {
    const body = payload({ subject: 'Grüße 🎉 日本', html: '<p>\u{1F600}</p>' }, { tags: ['ß'] });
    const { id } = await send(api, body);
    expect((await api.get(`/v1/messages/${id}/email`)).body).toMatchObject({
      subject: 'Grüße 🎉 日本',
      html: '<p>\u{1F600}</p>',
    });
  });

  it('stores nothing for a refused key, permission or body', async () => {
    const reader = await createKey(test.app, test.operator, {
      permissions: { messages: ['read'] },
    });
    const answers = [
      await api.post('/v1/messages', payload(), { apiKey: null }),
      await api.post('/v1/messages', payload(), { apiKey: `svc_live_${'0'.repeat(38)}` }),
      await api.post('/v1/messages', payload(), { apiKey: reader.key }),
    ];
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [
        401,
        {
          _tag: 'UnauthorizedError',
          message: 'An API key is missing: send it in the X-API-Key header',
        },
      ],
      [401, { _tag: 'UnauthorizedError', message: 'The API key is not valid' }],
      [403, { _tag: 'ForbiddenError', message: 'This key lacks the permission messages:send' }],
    ]);
    expect(await rowCounts(test.app)).toEqual(noRows);
  });

  describe('from', () => {
    it('is the default sender with its name and Reply-To by default', async () => {
      const { id } = await createSender(test.app, test.caller, {
        email: 'shop@sandbox.test',
        name: 'Shop',
        isDefault: true,
        replyToEmails: ['help@sandbox.test'],
      });
      expect(await send(api)).toMatchObject({
        from: { email: 'shop@sandbox.test', name: 'Shop' },
        replyTo: ['help@sandbox.test'],
      });
      expect(await send(api, payload({ replyTo: ['me@example.com'] }))).toMatchObject({
        replyTo: ['me@example.com'],
      });
      await updateSender(test.app, test.caller, id, { isActive: false });
      const { status, body } = await post(payload());
      expect([status, body]).toEqual([
        403,
        {
          _tag: 'ForbiddenError',
          message: `shop@sandbox.test may not send: this sender is inactive. Set isActive on sender ${id}, or use another from.email`,
        },
      ]);
    });

    it('may be any address of a verified domain', async () => {
      const from = { email: 'Anyone@Sandbox.test' };
      expect(await send(api, payload({}, { from }))).toMatchObject({
        from: { email: 'Anyone@sandbox.test', name: null },
      });
    });

    it('of an unverified domain answers 403 with the remedy, until it is verified', async () => {
      const domain = await addDomain(test.app, test.caller, {
        domain: 'acme.example',
        dkim: 'ed25519',
      });
      const body = payload({}, { from: { email: 'a@acme.example' } });
      const refused = await post(body);
      expect([refused.status, refused.body]).toEqual([
        403,
        {
          _tag: 'ForbiddenError',
          message: `a@acme.example may not send: its domain acme.example is not verified (pending). Publish its records (\`svc domains dns ${domain.id}\`), then run \`svc domains verify ${domain.id}\``,
        },
      ]);
      expect(await rowCounts(test.app)).toEqual(noRows);
      await verifyDomain(test.app, test.operator, domain.id, { force: true });
      expect((await post(body)).status).toBe(201);
    });

    it('of another organization answers 403, as does a missing one without a default sender', async () => {
      const other = api.as((await otherOrganization(test.app)).apiKey);
      const foreign = { from: { email: 'hello@sandbox.test' }, advice: /svc domains add sandbox/ };
      for (const { from, advice } of [foreign, { from: undefined, advice: /svc senders create/ }]) {
        const { status, body } = await post(payload({}, { from }), other);
        expect([status, body]).toEqual([
          403,
          { _tag: 'ForbiddenError', message: expect.stringMatching(advice) },
        ]);
      }
      expect(await rowCounts(test.app)).toEqual(noRows);
    });
  });

  describe('a reference to something unknown', () => {
    const inline = { subject: undefined, text: undefined };
    const templateId = 'tmpl_0123456789abcdefghjk';
    const contactId = 'contact_0123456789abcdefghjk';
    const conversationId = 'conv_0123456789abcdefghjk';
    const inReplyToMessageId = 'msg_0123456789abcdefghjk';

    it('answers 404 for every kind, and nothing is stored', async () => {
      for (const [what, body, resource, id] of [
        ['a template by id', payload({ ...inline, templateId }), 'template', templateId],
        ['a template by slug', payload({ ...inline, templateSlug: 'hi' }), 'template', 'hi'],
        ['a contact', payload({}, { to: [{ contactId }] }), 'contact', contactId],
        ['a contact in cc', payload({}, { cc: [{ contactId }] }), 'contact', contactId],
        ['a contact in bcc', payload({}, { bcc: [{ contactId }] }), 'contact', contactId],
        ['a conversation', payload({}, { conversationId }), 'conversation', conversationId],
        ['the parent', payload({ inReplyToMessageId }), 'message', inReplyToMessageId],
        [
          'an unsubscribe group',
          payload({ unsubscribeGroupId: 'usg_1' }),
          'unsubscribe-group',
          'usg_1',
        ],
        [
          'a contact, asked before whether from may send',
          payload({}, { to: [{ contactId }], from: { email: 'a@elsewhere.example' } }),
          'contact',
          contactId,
        ],
      ] as [string, object, string, string][]) {
        const answer = await post(body);
        expect([what, answer.status, answer.body]).toEqual([
          what,
          404,
          { _tag: 'ResourceNotFoundError', resource, id },
        ]);
        expect(await rowCounts(test.app)).toEqual(noRows);
      }
    });

    it('answers 404 for a parent of another organization', async () => {
      const { id } = await send(api);
      const other = await otherOrganization(test.app);
      const body = payload({ inReplyToMessageId: id });
      const answer = await post(body, api.as(other.apiKey));
      expect([answer.status, answer.body]).toEqual([
        404,
        { _tag: 'ResourceNotFoundError', resource: 'message', id },
      ]);
    });
  });

  it('sets the parent and its references in a reply', async () => {
    const first = await send(api);
    const second = await send(api, payload({ inReplyToMessageId: first.id }));
    const third = await send(api, payload({ inReplyToMessageId: second.id }));
    const header = ({ id }: Message) => `<${id}@sandbox.test>`;
    expect((await api.get(`/v1/messages/${third.id}/email`)).body).toMatchObject({
      messageIdHeader: header(third),
      inReplyTo: header(second),
      references: [header(first), header(second)],
    });
  });

  describe('a test key', () => {
    it('reaches simulator addresses and local mailboxes only', async () => {
      const { key } = await createKey(test.app, test.operator, { role: 'sender', mode: 'test' });
      const tester = api.as(key ?? '');
      const local = [{ email: 'Inbox@sandbox.test' }, { email: 'bounced+7@simulator.test' }];
      expect((await post(payload({}, { to: local }), tester)).status).toBe(201);
      for (const kind of ['cc', 'bcc']) {
        const mixed = payload({}, { to: local, [kind]: [{ email: 'ada@example.com' }] });
        const { status, body } = await post(mixed, tester);
        expect([status, body]).toEqual([
          403,
          {
            _tag: 'ForbiddenError',
            message:
              'A test key sends only to local mailboxes and @simulator.test: use a live key for ada@example.com',
          },
        ]);
      }
      const unknownName = payload({}, { to: [{ email: 'nobody@simulator.test' }] });
      expect((await post(unknownName, tester)).status).toBe(403);
      expect((await rowCounts(test.app)).messages).toBe(1);
    });
  });

  describe('a stored body', () => {
    const file = { filename: 'a.txt', content: 'aGk=' };

    it('is shared by any number of messages', async () => {
      const body = payload({ html: '<p>x</p>', attachments: [file] });
      await send(api, body);
      await send(api, payload({ ...(body.email as object), subject: 'Other' }, { tags: ['x'] }));
      await Promise.all(Array.from({ length: 5 }, () => send(api, body)));
      const { messages, contents, blobs } = await rowCounts(test.app);
      expect([messages, contents, blobs]).toEqual([7, 1, 1]);
    });

    it('is shared by concurrent messages', async () => {
      const body = sendPayload.parse(payload({ attachments: [file] }));
      const asked = Array.from({ length: 5 }, () => sendMessage(test.app, test.caller, body, null));
      await Promise.all(asked);
      const { messages, contents, blobs } = await rowCounts(test.app);
      expect([messages, contents, blobs]).toEqual([5, 1, 1]);
    });

    it('is another one after any change', async () => {
      await send(api);
      await send(api, payload({ attachments: [{ ...file, contentId: 'x' }] }));
      let contents = 2;
      for (const [what, email] of [
        ['the text', { text: 'Other.' }],
        ['the html', { html: 'It works.' }],
        ['an attachment', { attachments: [file] }],
        ['a file name', { attachments: [{ ...file, filename: 'b.txt' }] }],
        ['a media type', { attachments: [{ ...file, contentType: 'text/csv' }] }],
      ] as [string, Parameters<typeof payload>[0]][]) {
        await send(api, payload(email));
        contents += 1;
        expect([what, (await rowCounts(test.app)).contents]).toEqual([what, contents]);
      }
    });

    it('is not shared between organizations', async () => {
      const other = await otherOrganization(test.app);
      const { id } = await addDomain(test.app, other.caller, {
        domain: 'acme.example',
        dkim: 'ed25519',
      });
      await verifyDomain(test.app, other.caller, id, { force: true });
      await send(api);
      await send(api.as(other.apiKey), payload({}, { from: { email: 'a@acme.example' } }));
      expect((await rowCounts(test.app)).contents).toBe(2);
    });
  });

  it('accepts concurrent sends separately, without harm from a bad one', async () => {
    const bodies = Array.from({ length: 100 }, (_, i) =>
      payload(
        { subject: `Nr ${i}` },
        i % 10 === 3 ? { from: { email: 'a@elsewhere.example' } } : {},
      ),
    );
    const answers = await Promise.all(bodies.map((body) => post(body)));
    answers.forEach(({ status, body }, i) => {
      expect(status).toBe(i % 10 === 3 ? 403 : 201);
      if (status === 201) expect(body.subject).toBe(`Nr ${i}`);
    });
    const { messages, deliveries, events } = await rowCounts(test.app);
    expect([messages, deliveries, events]).toEqual([90, 90, 90]);
  });
});
