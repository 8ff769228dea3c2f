// Messages sent again: `resend` of any sent message, `release` of captured mail.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import type { ParsedMail } from '../../../src/mail/mime/parsed-mail.ts';
import { parseMime } from '../../../src/mail/parse/parse-mime.ts';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import { handIn } from '../../../src/outbound/sending/hand-in/hand-in.ts';
import { releaseMessage, resendMessage } from '../../../src/outbound/sending/resend.ts';
import { ConflictError } from '../../../src/platform/errors.ts';
import { stores } from '../../support/command.ts';
import { type RunningPipeline, send, startPipeline } from '../../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const all = {
  cc: [{ email: 'cyd@example.com', name: 'Cyd' }],
  tags: ['invoice'],
  metadata: { order: 7 },
  email: {
    html: '<p>It works.</p>',
    replyTo: ['answers@example.com'],
    headers: { 'X-Case': '7', 'In-Reply-To': '<a@x.example>', References: '<b@x.example>' },
    attachments: [{ filename: 'a.bin', content: 'AAEC', contentType: 'application/x-a' }],
  },
};

const nothing: Partial<ParsedMail> = {};

describe.each(stores)('messages sent again, on %s', (store) => {
  let test: TestApp;
  let sink: SmtpSink;
  let pipeline: RunningPipeline;
  /** The same service, with a relay instead of the capture mode. */
  let relayed: App;
  beforeEach(async () => {
    sink = await startSmtpSink();
    test = await testApp({ store });
    const { delivery } = test.app.config;
    const relay = { ...delivery.relay, host: sink.host, port: sink.port };
    const config = { ...test.app.config, delivery: { ...delivery, mode: 'relay' as const, relay } };
    relayed = { ...test.app, config };
    pipeline = await startPipeline(relayed);
  });
  afterEach(async () => {
    await pipeline.close();
    await test.close();
    await sink.close();
  });

  const sentMails = async (count: number) => {
    const mails = await sink.waitFor(count);
    await pipeline.idle();
    return Promise.all(mails.map(({ raw }) => parseMime(raw)));
  };

  /** Sends while a daemon in capture mode runs. */
  const captured = async (to: readonly string[], more = {}) => {
    await pipeline.close();
    const capturing = await startPipeline(test.app);
    const { id } = await send(test.app, test.caller, to, more);
    await capturing.idle();
    await capturing.close();
    pipeline = await startPipeline(relayed);
    return id;
  };

  describe('resend', () => {
    it('sends the same content to the same recipients', async () => {
      const { id } = await send(relayed, test.caller, 'ada@example.com', all);
      await sentMails(1);
      await resendMessage(relayed, test.caller, id, null);
      const [first, again] = await sentMails(2);
      const { subject, from, to, cc, replyTo, html, text, attachments } = first ?? nothing;
      expect(again).toMatchObject({ subject, from, to, cc, replyTo, html, text, attachments });
      for (const field of [
        'X-Case: 7',
        'In-Reply-To: <a@x.example>',
        'References: <b@x.example>',
      ]) {
        const counts = sink.messages.map(
          ({ raw }) => raw.toString().split(`${field}\r\n`).length - 1,
        );
        expect([field, ...counts]).toEqual([field, 1, 1]);
      }
    });

    it('is a new message with the labels of the first one, which it names', async () => {
      const { id } = await send(relayed, test.caller, 'ada@example.com', all);
      await sentMails(1);
      const again = await resendMessage(relayed, test.caller, id, null);
      expect(again).toMatchObject({ resendOf: id, tags: ['invoice'], metadata: { order: 7 } });
      expect(again.id).not.toBe(id);
      const [first, second] = await sentMails(2);
      expect(second?.messageIdHeader).not.toBe(first?.messageIdHeader);
      const stored = await getMessage(relayed, test.caller, again.id);
      expect([stored.resendOf, stored.origin?.via]).toEqual([id, 'api']);
      expect((await getMessage(relayed, test.caller, id)).resendOf).toBeNull();
    });

    it('sends mail handed in as MIME with its own body and a new Message-ID', async () => {
      const mail = 'From: hello@sandbox.test\r\nMessage-ID: <1@x.example>\r\nSubject: By hand\r\n';
      const { id } = await handIn(relayed, test.operator, {
        raw: Buffer.from(`${mail}\r\nBy hand\r\n`),
        recipients: ['ada@example.com'],
        ...{ allowsUtf8: false, bareDomain: null, via: 'sendmail', user: null },
      });
      await sentMails(1);
      await resendMessage(relayed, test.caller, id, null);
      const [first, again] = await sentMails(2);
      expect([first?.messageIdHeader, again?.subject, again?.text]).toEqual([
        '<1@x.example>',
        'By hand',
        first?.text,
      ]);
      expect(again?.messageIdHeader).not.toBe('<1@x.example>');
    });

    it('answers a repeat under its key with the first answer', async () => {
      const { id } = await send(relayed, test.caller, 'ada@example.com');
      await sentMails(1);
      const one = await resendMessage(relayed, test.caller, id, 'again');
      expect((await resendMessage(relayed, test.caller, id, 'again')).id).toBe(one.id);
      expect((await resendMessage(relayed, test.caller, id, null)).id).not.toBe(one.id);
    });

    it('is refused to a key that may not read messages', async () => {
      const id = await captured(['ada@example.com']);
      const sender = { ...test.caller, permissions: { messages: ['send'] } };
      for (const again of [
        resendMessage(relayed, sender, id, null),
        releaseMessage(relayed, sender, id),
      ]) {
        await expect(again).rejects.toMatchObject({ _tag: 'ForbiddenError' });
      }
    });

    it('answers a conflict while a delivery is in the queue', async () => {
      const { id } = await send(test.app, test.caller, 'ada@example.com');
      await pipeline.close();
      const waiting = await send(test.app, test.caller, 'bob@example.com');
      await expect(resendMessage(relayed, test.caller, waiting.id, null)).rejects.toThrow(
        /is still in the queue/,
      );
      expect(id).not.toBe(waiting.id);
      pipeline = await startPipeline(relayed);
    });
  });

  describe('release', () => {
    it('sends captured mail once the mode lets it leave', async () => {
      const id = await captured(['ada@example.com'], all);
      await expect(releaseMessage(test.app, test.caller, id)).rejects.toThrow(
        /would be captured again: delivery\.mode keeps/,
      );
      const released = await releaseMessage(relayed, test.caller, id);
      expect(released.resendOf).toBe(id);
      const [mail] = await sentMails(1);
      expect(mail).toMatchObject({ subject: 'Hello', text: expect.stringContaining('It works.') });
    });

    it('releases a copy once', async () => {
      const id = await captured(['ada@example.com']);
      const { id: releasedAs } = await releaseMessage(relayed, test.caller, id);
      await expect(releaseMessage(relayed, test.caller, id)).rejects.toThrow(
        new ConflictError('message', `${id} was released as ${releasedAs}`),
      );
      const { deliveries } = await getMessage(relayed, test.caller, id);
      expect(deliveries[0]?.attempts.at(-1)).toMatchObject({ releasedAs });
    });

    it('makes one message of two requests at once', async () => {
      const id = await captured(['ada@example.com']);
      const [one, two] = await Promise.allSettled([
        releaseMessage(relayed, test.caller, id),
        releaseMessage(relayed, test.caller, id),
      ]);
      const ids = [one, two].flatMap((end) => (end?.status === 'fulfilled' ? end.value.id : []));
      expect(new Set(ids).size).toBe(1);
      await sentMails(1);
      expect(sink.received).toBe(1);
    });

    it('leaves out recipients whose mail is still captured', async () => {
      const id = await captured(['ada@example.com', 'bob@other.example']);
      const { delivery } = relayed.config;
      const config = { ...relayed.config, delivery: { ...delivery, allow: ['example.com'] } };
      const released = await releaseMessage({ ...relayed, config }, test.caller, id);
      expect(released.recipients.map(({ email }) => email)).toEqual(['ada@example.com']);
      const rest = await releaseMessage(relayed, test.caller, id);
      expect(rest.recipients.map(({ email }) => email)).toEqual(['bob@other.example']);
    });

    it('answers a conflict for mail that was not captured', async () => {
      const { id } = await send(relayed, test.caller, 'ada@example.com');
      await sentMails(1);
      await expect(releaseMessage(relayed, test.caller, id)).rejects.toThrow(/was not captured/);
    });
  });
});
