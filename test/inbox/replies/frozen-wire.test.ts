// The mail of an approved proposal as a relay receives it: every copy equals the mail that was
// shown.
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Caller } from '../../../src/core/api/route.ts';
import { createMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { getAction, readProposedMime } from '../../../src/inbox/approvals/proposals.ts';
import { sendNew } from '../../../src/inbox/replies/answers.ts';
import { approveAction } from '../../../src/inbox/replies/approve.ts';
import { cutRawMail, joinRawMail } from '../../../src/mail/mime/raw-mail.ts';
import { burstOverMs, type RunningPipeline, startPipeline } from '../../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { agentOf } from '../approvals/fixtures.ts';
import { sha256, withoutSendingFields } from './sent-bytes.ts';

let sink: SmtpSink;
let test: TestApp;
let pipeline: RunningPipeline;
let mailboxId: string;
let agent: Caller;
beforeEach(async () => {
  sink = await startSmtpSink({ tls: false });
  test = await testApp({
    config: { delivery: { mode: 'relay', relay: { host: sink.host, port: sink.port } } },
  });
  const { app, operator } = test;
  pipeline = await startPipeline(app);
  mailboxId = (await createMailbox(app, operator, { slug: 'desk', displayName: 'Büro' })).id;
  agent = await agentOf(app, operator, mailboxId);
});
afterEach(async () => {
  await pipeline.close();
  await test.close();
  await sink.close();
});

const mail = {
  to: ['ada@example.com', 'bo@example.net'],
  cc: ['cy@example.org'],
  bcc: ['blind@example.com'],
  subject: 'Grüße',
  text: `.a line that begins with a dot\n${'Grüße '.repeat(400)}\n`,
  html: '<p>Grüße <a href="https://example.com/offer">offer</a></p>',
  attachments: [{ filename: 'Größe.txt', contentType: 'text/plain', content: 'R3LDvMOfZQ==' }],
};

it('delivers every copy of a frozen mail byte for byte, but for blind copies, to the recipients of its envelope', async () => {
  const { app, operator, clock } = test;
  const { actionId } = await sendNew(app, agent, mailboxId, mail, null);
  const at = { mailboxId, actionId: actionId ?? '' };
  const { digest } = await getAction(app, operator, at);
  const { bytes } = await readProposedMime(app, operator, at);
  await clock.advance(60_000);
  await approveAction(app, operator, at, {});
  await clock.advance(burstOverMs);
  await pipeline.idle();
  const copies = sink.messages.map(({ raw }) => withoutSendingFields(raw));
  expect(copies.length).toBeGreaterThan(0);
  const shown = joinRawMail(
    cutRawMail(bytes, (name) => name === 'bcc'),
    [],
  ).toString('latin1');
  expect(shown.length).toBeLessThan(bytes.length);
  for (const copy of copies) expect(copy.toString('latin1')).toBe(shown);
  expect(sha256(bytes)).toBe(digest);
  const recipients = sink.messages.flatMap(({ recipients }) => recipients);
  expect(recipients.toSorted()).toEqual([...mail.to, ...mail.cc, ...mail.bcc].toSorted());
});
