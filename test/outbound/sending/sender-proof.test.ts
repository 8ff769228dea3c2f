// Proof of a sender address, end to end: the mail that a server got has the token, and nothing that
// the organization can read has it.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { sweepMailedLinks } from '../../../src/access/sessions/mailed-links.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import type { Sender } from '../../../src/identity/senders/schema.ts';
import { createSender, deleteSender, getSender } from '../../../src/identity/senders/senders.ts';
import { getEmailProjection } from '../../../src/outbound/messages/lists/email-projection.ts';
import { listMessages } from '../../../src/outbound/messages/messages.ts';
import { resendProof, verifySender } from '../../../src/outbound/sending/sender-proof/prove.ts';
import { readRawMail } from '../../../src/outbound/sending/stored-parts.ts';
import {
  ConflictError,
  RateLimitedError,
  ResourceNotFoundError,
  ValidationError,
} from '../../../src/platform/errors.ts';
import { stores } from '../../support/command.ts';
import { type RunningPipeline, startPipeline } from '../../support/delivery.ts';
import { type HttpFace, httpFace } from '../../support/http-face.ts';
import { meetInWrites } from '../../support/meeting-writes.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const day = 86_400_000;

describe.each(stores)('a sender of another provider, on %s', (store) => {
  let test: TestApp;
  let sink: SmtpSink;
  let pipeline: RunningPipeline;
  let face: HttpFace;
  beforeEach(async () => {
    mails = 0;
    sink = await startSmtpSink();
    const relay = { host: sink.host, port: sink.port };
    test = await testApp({ store, config: { delivery: { mode: 'relay', relay } } });
    const own = await addDomain(test.app, test.caller, { domain: 'acme.example', dkim: 'ed25519' });
    await verifyDomain(test.app, test.operator, own.id, { force: true });
    await createSender(test.app, test.caller, { email: 'hello@acme.example', isDefault: true });
    face = httpFace(test.app);
    pipeline = await startPipeline(test.app);
  });
  afterEach(async () => {
    await pipeline.close();
    await face.close();
    await test.close();
    await sink.close();
  });

  const make = (email: string, caller: Caller = test.caller) =>
    createSender(test.app, caller, { email });
  const shown = ({ id }: Sender, caller: Caller = test.caller) => getSender(test.app, caller, id);
  const verify = ({ id }: Sender, token: string, caller: Caller = test.caller) =>
    verifySender(test.app, caller, id, token);
  const resend = ({ id }: Sender, caller: Caller = test.caller) =>
    resendProof(test.app, caller, id);
  let mails = 0;
  /** Returns the token of the next mail. */
  async function mailed(): Promise<{ token: string; raw: string; from: string }> {
    mails += 1;
    const all = await sink.waitFor(mails);
    await pipeline.idle();
    const raw = all[mails - 1]?.raw.toString('latin1') ?? '';
    const plain = raw.replaceAll(/=\r\n/g, '');
    const [, token = ''] = /\/verify\/([\w-]{43})\s/.exec(plain) ?? [];
    const [, from = ''] = /^From: (.*)\r$/m.exec(raw) ?? [];
    return { token, raw: plain, from };
  }
  /** Returns the actions of the audit, then the kinds of events. */
  async function recorded({ id }: Sender): Promise<string[]> {
    const { rows } = await sql<{ name: string }>`
      select name from (
        select 1 as part, id, action as name from audit_entries where resource_id = ${id}
        union all select 2, id, event_type from resource_events where subject = ${id}) as all_of_it
      order by part, id`.execute(test.app.store.db);
    return rows.map(({ name }) => name);
  }
  const page = (token: string, method: 'GET' | 'HEAD' = 'GET') =>
    face.inject({ method, url: `/verify/${token}` });
  const press = (token: string, action = 'verify') =>
    face.inject({
      method: 'POST',
      url: `/verify/${token}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: `action=${action}`,
    });

  it('is verified by the token in its mail, once', async () => {
    const sender = await make('ada@gmail.example');
    expect(sender).toMatchObject({
      verificationStatus: 'pending',
      verificationToken: null,
      providerLifecycle: 'provisioning',
      providerFailureCode: null,
    });
    const { token, raw, from } = await mailed();
    expect(from).toContain('hello@acme.example');
    expect(raw).toContain('Auto-Submitted: auto-generated');
    expect(await verify(sender, token)).toMatchObject({
      verificationStatus: 'verified',
      providerLifecycle: 'active',
    });
    await expect(verify(sender, token)).rejects.toThrow(ValidationError);
    await expect(resend(sender)).rejects.toThrow(ConflictError);
    expect(await recorded(sender)).toEqual([
      'sender.created',
      'sender.verified',
      'sender.verified',
    ]);
  });

  it('has its token in nothing that the organization can read', async () => {
    await make('ada@gmail.example');
    const { token } = await mailed();
    expect(token).toHaveLength(43);
    const { items } = await listMessages(test.app, test.caller, { page: 1, limit: 10 });
    const id = items[0]?.id ?? '';
    const readable = JSON.stringify([
      items,
      await getEmailProjection(test.app, test.caller, id, {}),
      (await readRawMail(test.app, test.caller, id, undefined)).body.toString('latin1'),
    ]).replaceAll(/=\\r\\n/g, '');
    expect(readable).toContain('/verify/of-this-mail');
    expect(readable).not.toContain(token);
  });

  it('is verified by the button of the page, not by a look at it', async () => {
    const sender = await make('ada@gmail.example');
    const { token } = await mailed();
    for (const method of ['GET', 'HEAD'] as const) {
      expect((await page(token, method)).statusCode).toBe(200);
      expect((await shown(sender)).verificationStatus).toBe('pending');
    }
    expect((await page(token)).body).toContain('Allow mail from ada@gmail.example?');
    expect((await press(token, 'other')).statusCode).toBe(400);
    expect((await shown(sender)).verificationStatus).toBe('pending');
    const done = await press(token);
    expect([done.statusCode, done.body]).toEqual([200, expect.stringContaining('Thank you')]);
    expect(await shown(sender)).toMatchObject({
      verificationStatus: 'verified',
      providerLifecycle: 'active',
    });
    expect((await press(token)).statusCode).toBe(410);
    for (const bad of ['x', 'A'.repeat(43), `${token}x`]) {
      expect((await press(bad)).statusCode).toBeGreaterThanOrEqual(404);
    }
  });

  it('is verified once by two presses at the same time', async () => {
    const sender = await make('ada@gmail.example');
    const { token } = await mailed();
    meetInWrites(test.app.store, 2);
    const both = await Promise.all([press(token), press(token)]);
    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 410]);
    expect(await recorded(sender)).toEqual([
      'sender.created',
      'sender.verified',
      'sender.verified',
    ]);
  });

  it('fails after 7 days, and a new mail starts anew', async () => {
    const sender = await make('ada@gmail.example');
    const { token } = await mailed();
    await test.clock.advance(7 * day);
    expect(await shown(sender)).toMatchObject({
      providerLifecycle: 'failed',
      providerFailureCode: 'token-expired',
    });
    await expect(verify(sender, token)).rejects.toThrow('is older than 7 days');
    expect((await press(token)).statusCode).toBe(410);
    expect((await resend(sender)).providerLifecycle).toBe('provisioning');
    expect(await recorded(sender)).toEqual(['sender.created', 'sender.proof-mailed']);
    const next = await mailed();
    expect(next.token).not.toBe(token);
    await expect(verify(sender, token)).rejects.toThrow('is not the last token');
    expect((await verify(sender, next.token)).verificationStatus).toBe('verified');
  });

  it('fails when its mail reaches nobody', async () => {
    sink.on({ verb: 'RCPT' }, '550 5.1.1 no such user');
    const sender = await make('nobody@gmail.example');
    await pipeline.idle();
    expect(await shown(sender)).toMatchObject({
      providerLifecycle: 'failed',
      providerFailureCode: 'token-undeliverable',
    });
  });

  it('gets five mails a day, from all organizations together', async () => {
    const { id } = await createOrganization(test.app, { name: 'second', plan: 'free' });
    const second = { ...test.caller, organizationId: id };
    const sender = await make('ada@gmail.example');
    await mailed();
    for (let count = 2; count <= 4; count++) {
      await resend(sender);
      await mailed();
    }
    const other = await make('ADA@gmail.example', second);
    const refusal = await resend(sender).catch((error: Error) => error);
    expect(refusal).toBeInstanceOf(RateLimitedError);
    expect((refusal as RateLimitedError).retryAfterSeconds).toBe(86_400);
    await expect(resend(other, second)).rejects.toThrow(RateLimitedError);
    await deleteSender(test.app, test.caller, sender.id);
    const again = await make('ada@gmail.example');
    await pipeline.idle();
    expect(await sink.waitFor(5)).toHaveLength(5);
    await test.clock.advance(day);
    await sweepMailedLinks(test.app);
    await resend(again);
    await sink.waitFor(6);
  });

  it('takes no token of another sender or organization', async () => {
    const { id } = await createOrganization(test.app, { name: 'second', plan: 'free' });
    const second = { ...test.caller, organizationId: id };
    const ours = await make('ada@gmail.example');
    const { token } = await mailed();
    const bob = await make('bob@gmail.example');
    await mailed();
    const theirs = await make('ada@gmail.example', second);
    const { token: theirToken, from } = await mailed();
    // The second organization has no sender of its own: the operator's mails the token.
    expect(from).toContain('hello@acme.example');
    await expect(verify(bob, token)).rejects.toThrow(ValidationError);
    await expect(verify(ours, theirToken)).rejects.toThrow(ValidationError);
    await expect(verify(ours, token, second)).rejects.toThrow(ResourceNotFoundError);
    expect((await verify(theirs, theirToken, second)).verificationStatus).toBe('verified');
    expect((await shown(ours)).verificationStatus).toBe('pending');
    expect((await verify(ours, token)).verificationStatus).toBe('verified');
  });

  it('needs no mail on a verified domain', async () => {
    expect((await make('any@acme.example')).providerLifecycle).toBe('active');
    await pipeline.idle();
    expect(sink.messages).toEqual([]);
  });
});
