// Every field of a send: its part in the fingerprint, and its stored form.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import { findMessageRow } from '../../../src/outbound/messages/queries.ts';
import { type SendPayload, sendPayload } from '../../../src/outbound/messages/send-schema.ts';
import { fingerprint } from '../../../src/outbound/sending/fingerprint.ts';
import { stores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const base = {
  channel: 'email',
  to: [{ email: 'a@example.com', name: 'A' }],
  cc: [{ email: 'c@example.com' }],
  bcc: [{ email: 'b@example.com' }],
  from: { email: 'inbox@sandbox.test', name: 'Inbox' },
  email: {
    subject: 'Subject',
    html: '<p>html</p>',
    text: 'text',
    replyTo: ['r@example.com'],
    attachments: [
      { filename: 'a.txt', content: 'AAAA', contentType: 'text/plain', contentId: 'cid1' },
    ],
    headers: { 'X-One': '1' },
    tracking: { opens: false, clicks: false },
    unsubscribeGroupId: 'group',
    footer: { enabled: false },
    inReplyToMessageId: `msg_${'0'.repeat(24)}`,
    priority: 'high',
  },
  conversationId: `conv_${'0'.repeat(24)}`,
  tags: ['one'],
  metadata: { key: 'value' },
};

/** Changes of one field each; `email.` stands for the content. */
const changes: Record<string, unknown> = {
  to: [{ email: 'z@example.com', name: 'A' }],
  'to.0.name': [{ email: 'a@example.com', name: 'B' }],
  cc: [{ email: 'z@example.com' }],
  bcc: [{ email: 'z@example.com' }],
  from: { email: 'inbox@sandbox.test', name: 'Another' },
  'email.subject': 'Another',
  'email.html': '<p>another</p>',
  'email.text': 'another',
  'email.replyTo': ['z@example.com'],
  'email.attachments': [
    { filename: 'a.txt', content: 'AAAB', contentType: 'text/plain', contentId: 'cid1' },
  ],
  'email.headers': { 'X-One': '2' },
  'email.tracking': { opens: false },
  'email.unsubscribeGroupId': 'another',
  'email.footer': undefined,
  'email.inReplyToMessageId': `msg_${'1'.repeat(24)}`,
  'email.priority': 'low',
  conversationId: `conv_${'1'.repeat(24)}`,
  tags: ['two'],
  metadata: { key: 'another' },
};

function changed(path: string): Record<string, unknown> {
  const [first = '', second = ''] = path.split('.');
  if (first !== 'email') return { ...base, [first]: changes[path] };
  return { ...base, email: { ...base.email, [second]: changes[path] } };
}

const of = (body: unknown) => fingerprint('POST', '/v1/messages', sendPayload.parse(body));

describe('the fingerprint of a send', () => {
  it('has a case below for every field', () => {
    const top = Object.keys(sendPayload.shape).filter(
      (name) => !['channel', 'email'].includes(name),
    );
    const content = Object.keys(sendPayload.shape.email.shape)
      .filter((name) => !name.startsWith('template'))
      .map((name) => `email.${name}`);
    const named = new Set(Object.keys(changes));
    expect([...top, ...content].filter((name) => !named.has(name))).toEqual([]);
  });

  it.each(Object.keys(changes))('changes with %s', (path) => {
    expect(of(changed(path))).not.toBe(of(base));
    expect(of(changed(path))).toBe(of(changed(path)));
  });

  it.each(['templateId', 'templateSlug', 'templateData'])('changes with email.%s', (name) => {
    const body = (value: string) => ({
      ...base,
      email: {
        ...(name !== 'templateId' && { templateSlug: 'welcome' }),
        [name]:
          name === 'templateData'
            ? { key: value }
            : name === 'templateId'
              ? `tmpl_${value.repeat(24)}`
              : value,
      },
    });
    expect(of(body('0'))).not.toBe(of(body('1')));
  });

  it('changes with method and path but not with the order of keys', () => {
    const body: SendPayload = sendPayload.parse(base);
    const reversed = Object.fromEntries(Object.entries(body).reverse());
    expect(fingerprint('POST', '/v1/messages', reversed)).toBe(of(base));
    expect(fingerprint('PUT', '/v1/messages', body)).not.toBe(of(base));
    expect(fingerprint('POST', '/v1/batch', body)).not.toBe(of(base));
  });
});

describe.each(stores)('the stored send on %s', (store) => {
  let test: TestApp;
  beforeEach(async () => {
    test = await testApp({ store });
  });
  afterEach(() => test.close());

  it('has its own name for each of two concurrent sends from one address', async () => {
    const { app, caller } = test;
    const names = Array.from({ length: 16 }, (_, at) => `Name ${at % 2}`);
    const sent = await Promise.all(
      names.map((name) =>
        send(app, caller, 'a@simulator.test', { from: { email: 'hello@sandbox.test', name } }),
      ),
    );
    const kept = await Promise.all(sent.map(({ id }) => getMessage(app, caller, id)));
    expect(kept.map(({ from }) => from?.name)).toEqual(names);
  });

  it('has its parent after any number of ancestors', async () => {
    const { app, caller } = test;
    let parent = await send(app, caller, 'a@simulator.test');
    for (let at = 0; at < 60; at += 1) {
      const email = { inReplyToMessageId: parent.id };
      const reply = await send(app, caller, 'a@simulator.test', { email });
      const row = await findMessageRow(app.store.db, reply.id);
      const above = await findMessageRow(app.store.db, parent.id);
      const references: string[] = JSON.parse(row?.message_references ?? '[]');
      expect(references.at(-1)).toBe(above?.message_id_header);
      parent = reply;
    }
  });
});
