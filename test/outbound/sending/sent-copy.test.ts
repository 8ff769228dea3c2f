// The raw mail of a sent message against the bytes that its server got, recipient by recipient.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rotateDkim } from '../../../src/identity/domains/dkim-change.ts';
import { deleteDomain, listDomains } from '../../../src/identity/domains/domains.ts';
import { getEmailProjection } from '../../../src/outbound/messages/lists/email-projection.ts';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import { handIn } from '../../../src/outbound/sending/hand-in/hand-in.ts';
import { readRawMail, readStoredPart } from '../../../src/outbound/sending/stored-parts.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { stores } from '../../support/command.ts';
import { type RunningPipeline, send, startPipeline } from '../../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const minuteMs = 60_000;
const html = '<html><body><a href="https://shop.example/a">A</a></body></html>';
const tracking = { opens: true, clicks: true };
const everyone = ['ada@example.com', 'bob@example.com', 'cyd@other.example'];

describe.each(stores)('the raw mail of a sent message, on %s', (store) => {
  let test: TestApp;
  let sink: SmtpSink;
  let pipeline: RunningPipeline;
  beforeEach(async () => {
    sink = await startSmtpSink();
    const relay = { host: sink.host, port: sink.port };
    test = await testApp({ store, config: { delivery: { mode: 'relay', relay } } });
    test.app.publicUrl.current = 'https://one.example';
    pipeline = await startPipeline(test.app);
  });
  afterEach(async () => {
    await pipeline.close();
    await test.close();
    await sink.close();
  });

  const rawOf = async (id: string, recipient?: string) =>
    (await readRawMail(test.app, test.caller, id, recipient)).body.toString('latin1');

  /** Changes all that a later message would be composed with. */
  const liveOn = async () => {
    const { items } = await listDomains(test.app, test.caller, { page: 1, limit: 20 });
    for (const { id } of items) await rotateDkim(test.app, test.caller, id);
    test.app.publicUrl.current = 'https://two.example';
    await test.clock.advance(90 * minuteMs);
  };

  /** Compares the raw mail of every recipient with the copies at the sink. */
  const expectCopies = async (id: string, transactions: number) => {
    const mails = await sink.waitFor(transactions);
    await pipeline.idle();
    await liveOn();
    for (const { recipients, raw } of mails) {
      for (const recipient of recipients) {
        expect(await rawOf(id, recipient)).toBe(raw.toString('latin1'));
      }
    }
    expect(mails.flatMap(({ recipients }) => recipients).length).toBeGreaterThan(0);
  };

  it('has the bytes of each transaction of a message without links', async () => {
    const { id } = await send(test.app, test.caller, everyone, {
      bcc: [{ email: 'blind@example.com' }],
    });
    await expectCopies(id, 3);
    expect(await rawOf(id)).toBe(await rawOf(id, 'ada@example.com'));
    expect(await rawOf(id, 'blind@example.com')).not.toBe(await rawOf(id, 'ada@example.com'));
  });

  it('has the links, the pixel and the unsubscribe fields of each copy', async () => {
    const { id: unsubscribeGroupId } = await createGroup(test.app, test.caller, { name: 'News' });
    const { id } = await send(test.app, test.caller, everyone, {
      email: { html, tracking, unsubscribeGroupId },
    });
    await expectCopies(id, 3);
    const raw = await rawOf(id, 'bob@example.com');
    expect(raw).toContain('https://one.example/t/o/');
    expect(raw).toContain('List-Unsubscribe: <https://one.example/u/');
  });

  it('has the bytes of a message with an attachment', async () => {
    const { id } = await send(test.app, test.caller, 'ada@example.com', {
      email: {
        html,
        attachments: [{ filename: 'a.bin', content: 'AAEC', contentType: 'application/x-a' }],
      },
    });
    await expectCopies(id, 1);
  });

  it('has the bytes of the attempt that succeeded', async () => {
    sink.on({ verb: 'RCPT', times: 1 }, '451 4.7.1 later');
    const { id } = await send(test.app, test.caller, 'ada@example.com', { email: { html } });
    await pipeline.idle();
    await test.clock.advance(2 * minuteMs);
    await expectCopies(id, 1);
    const { deliveries } = await getMessage(test.app, test.caller, id);
    expect(deliveries[0]?.attemptCount).toBe(2);
  });

  it('has the bytes of a mail handed in as MIME', async () => {
    const mail = 'From: hello@sandbox.test\r\nSubject: By hand\r\n\r\nBy hand\r\n';
    const { id } = await handIn(test.app, test.operator, {
      raw: Buffer.from(mail),
      recipients: ['ada@example.com'],
      allowsUtf8: false,
      bareDomain: null,
      via: 'sendmail',
      user: null,
    });
    await expectCopies(id, 1);
  });

  it('names the signatures that a deleted domain took with it', async () => {
    const { id } = await send(test.app, test.caller, 'ada@example.com');
    await sink.waitFor(1);
    await pipeline.idle();
    const [attempt] = (await getMessage(test.app, test.caller, id)).deliveries[0]?.attempts ?? [];
    const { items } = await listDomains(test.app, test.caller, { page: 1, limit: 20 });
    for (const one of items) await deleteDomain(test.app, test.caller, one.id);
    const { missingKeys } = await readRawMail(test.app, test.caller, id);
    expect(missingKeys).toEqual(attempt?.signedWith?.selectors);
    expect(missingKeys).not.toEqual([]);
  });

  it('answers the address of a stranger with not found', async () => {
    const { id } = await send(test.app, test.caller, 'ada@example.com');
    await expect(rawOf(id, 'eve@example.com')).rejects.toMatchObject({
      _tag: 'ResourceNotFoundError',
      resource: 'recipient',
    });
  });

  it('is behind the raw URL of the recipient', async () => {
    const { id } = await send(test.app, test.caller, ['ada@example.com', 'bob@other.example']);
    await sink.waitFor(2);
    await pipeline.idle();
    const { storageUrls } = await getEmailProjection(test.app, test.caller, id, {
      includeStorageUrls: true,
      recipient: 'Bob@other.example',
    });
    const token = storageUrls?.raw.split('/').at(-1) ?? '';
    const { body } = await readStoredPart(test.app, token);
    expect(body.toString('latin1')).toBe(await rawOf(id, 'bob@other.example'));
    expect(body.toString('latin1')).not.toBe(await rawOf(id));
  });
});

describe('the raw mail of a captured message', () => {
  it('is what would have left, the same at each download', async () => {
    const test = await testApp();
    const pipeline = await startPipeline(test.app);
    try {
      const { id } = await send(test.app, test.caller, 'ada@example.com', {
        email: { html, tracking },
      });
      await pipeline.idle();
      const { body } = await readRawMail(test.app, test.caller, id);
      expect(body.toString()).toMatch(/^DKIM-Signature: .*\r\nX-Service-Token: .*\/t\/o\//s);
      const { items } = await listDomains(test.app, test.caller, { page: 1, limit: 20 });
      for (const one of items) await rotateDkim(test.app, test.caller, one.id);
      await test.clock.advance(90 * minuteMs);
      expect((await readRawMail(test.app, test.caller, id)).body).toEqual(body);
    } finally {
      await pipeline.close();
      await test.close();
    }
  });
});
