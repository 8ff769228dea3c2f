// Receipts on both stores: what they prove of real SMTP dialogues, and that a change of any part is
// named.
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deleteMessage } from '../../src/outbound/messages/messages.ts';
import { ConflictError, ResourceNotFoundError } from '../../src/platform/errors.ts';
import { listPublicKeys } from '../../src/receipts/keys.ts';
import { buildReceipt } from '../../src/receipts/receipt.ts';
import type { Receipt } from '../../src/receipts/schema.ts';
import { keyIdsOf, soundWords, verifyReceipt } from '../../src/receipts/verify.ts';
import { anotherOrganization } from '../outbound/queue/entries.ts';
import { stores } from '../support/command.ts';
import { type RunningPipeline, send, startPipeline } from '../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { everyChange, everyLoss } from './changes.ts';

/** Longer than PostgreSQL holds back a seal. */
const settleMs = 6_000;

const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');

describe.each(stores)('the receipt of a message on %s', (store) => {
  let test: TestApp;
  let sink: SmtpSink;
  let pipeline: RunningPipeline;

  beforeEach(async () => {
    sink = await startSmtpSink();
    const relay = { host: sink.host, port: sink.port };
    test = await testApp({ store, config: { delivery: { mode: 'relay', relay } } });
    pipeline = await startPipeline(test.app);
  });
  afterEach(async () => {
    await pipeline.close();
    await test.close();
    await sink.close();
  });

  async function sendNow(to: string | string[]): Promise<string> {
    const { id } = await send(test.app, test.caller, to);
    await pipeline.idle();
    return id;
  }

  /** Returns the receipt once PostgreSQL has let its events be sealed. */
  async function receiptOf(id: string): Promise<Receipt> {
    for (;;) {
      try {
        return await buildReceipt(test.app, test.caller, id);
      } catch (error) {
        if (!(error instanceof ConflictError) || !/not sealed yet/.test(error.message)) throw error;
        await test.clock.advance(settleMs);
      }
    }
  }

  it('proves the bytes, the envelope, the answers and the certificate of an accepted mail', async () => {
    sink.on({ verb: 'dot' }, '250 2.0.0 queued as 4711');
    const id = await sendNow('ada@example.com');
    const receipt = await receiptOf(id);
    const [mail] = sink.messages;
    const raw = mail?.raw ?? Buffer.alloc(0);
    const [attempt] = receipt.attempts;
    expect(receipt.message).toMatchObject({ id, digest: sha256(raw) });
    // Whoever holds the token of a return path can report a bounce.
    const returnPath = mail?.from.replace(/^bounce\+[^@]+@/, 'bounce+*@');
    expect(returnPath).not.toBe(mail?.from);
    expect(receipt.envelope).toEqual({ returnPath, recipients: ['ada@example.com'] });
    expect(attempt?.attempt).not.toHaveProperty('policy');
    expect(attempt?.attempt).toMatchObject({
      digest: sha256(raw),
      returnPath,
    });
    expect(attempt?.attempt.tls).toMatch(/^TLSv1\.3 /);
    expect(attempt?.attempt.transcript).toMatch(/^S: 250 2\.0\.0 queued as 4711$/m);
    expect(attempt?.attempt.transcript).not.toMatch(/^C: /m);
    const [certificate] = attempt?.attempt.certificates ?? [];
    expect(certificate?.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(receipt.events.map(({ type }) => type)).toEqual(['message.accepted', 'message.sent']);
    const keyIds = keyIdsOf({ keys: await listPublicKeys(test.app) });
    expect(verifyReceipt(receipt, { mime: raw, keyIds })).toEqual([]);
    expect(soundWords(receipt, { isMimeGiven: true, areKeysGiven: true })).toContain(
      '250 queued as 4711',
    );
  });

  it('proves a refusal and the attempts before it', async () => {
    const allow = sink.on({ verb: 'RCPT' }, '451 4.7.1 later');
    const id = await sendNow('ada@example.com');
    allow();
    sink.on({ verb: 'RCPT' }, '550 5.1.1 nobody here');
    await test.clock.advance(3_600_000);
    await pipeline.idle();
    const receipt = await receiptOf(id);
    const outcomes = receipt.attempts.map(({ attempt }) => [attempt.number, attempt.outcome]);
    expect(outcomes).toEqual([
      [1, 'deferred'],
      [2, 'bounced'],
    ]);
    expect(receipt.message.digest).toBeNull();
    expect(verifyReceipt(receipt)).toEqual([]);
    expect(verifyReceipt(receipt, { mime: Buffer.from('x') })).toEqual([
      { part: 'mime', problem: 'no server took a mail' },
    ]);
  });

  it('names each changed part, whichever it is', async () => {
    const id = await sendNow(['ada@example.com', 'bob@example.org']);
    // Other events make the path to the root longer.
    for (let count = 0; count < 5; count += 1) await sendNow('carol@example.com');
    const receipt = await receiptOf(id);
    expect(verifyReceipt(receipt)).toEqual([]);
    const changes = everyChange(receipt);
    expect(changes.length).toBeGreaterThan(100);
    const unnoticed = changes.filter(({ value }) => verifyReceipt(value).length === 0);
    expect(unnoticed.map(({ at }) => at)).toEqual([]);
  });

  it('is refused without a bounce, a complaint, another event or a recipient', async () => {
    const to = ['bounced@simulator.test', 'complained@simulator.test', 'ada@example.com'];
    const receipt = await receiptOf(await sendNow(to));
    expect(verifyReceipt(receipt)).toEqual([]);
    const losses = everyLoss(receipt);
    expect(losses.map(({ at }) => at)).toEqual(
      expect.arrayContaining(['message.bounced', 'message.complained', ...to]),
    );
    const unnoticed = losses.filter(({ value }) => verifyReceipt(value).length === 0);
    expect(unnoticed.map(({ at }) => at)).toEqual([]);
  });

  it('verifies a receipt of version 1, and says that completeness is not proven', async () => {
    const receipt = await receiptOf(await sendNow('ada@example.com'));
    const { summary, summarySignature, ...others } = receipt;
    const old = { ...others, version: 1 };
    expect(verifyReceipt(old)).toEqual([]);
    const given = { isMimeGiven: false, areKeysGiven: false };
    expect(soundWords(old, given)).toContain('version 1 does not prove completeness');
    expect(soundWords(receipt, given)).not.toContain('completeness');
    expect(verifyReceipt({ ...old, summary, summarySignature })).not.toEqual([]);
  });

  it('stays sound when more has happened, and says its time', async () => {
    const id = await sendNow('complained@simulator.test');
    const before = await receiptOf(id);
    await receiptOf(await sendNow('bob@example.com'));
    expect(verifyReceipt(before)).toEqual([]);
    expect(soundWords(before, { isMimeGiven: false, areKeysGiven: true })).toContain(
      `sealed by ${before.summary.at}`,
    );
    const now = await receiptOf(id);
    const mixed = { ...before, head: now.head, path: now.path };
    expect(verifyReceipt(mixed)).toContainEqual({
      part: 'summary',
      problem: 'its signature does not fit',
    });
  });

  it('names the mail that is another, and a key that is foreign', async () => {
    const id = await sendNow('ada@example.com');
    const receipt = await receiptOf(id);
    const raw = Buffer.from(sink.messages[0]?.raw ?? '');
    raw[100] = (raw[100] ?? 0) ^ 1;
    expect(verifyReceipt(receipt, { mime: raw })).toEqual([
      { part: 'mime', problem: 'it is not the mail that the servers took' },
    ]);
    expect(verifyReceipt(receipt, { keyIds: ['0123456789abcdef'] })).toEqual([
      { part: 'head', problem: `signed by a foreign key, ${receipt.head.keyId}` },
    ]);
  });

  it('names a foreign head and a truncated chain', async () => {
    const id = await sendNow('ada@example.com');
    const before = await receiptOf(id);
    // The head grows with the events of another message.
    await receiptOf(await sendNow('bob@example.com'));
    const receipt = await receiptOf(id);
    const parts = (value: Receipt) => verifyReceipt(value).map(({ part }) => part);
    const ids = receipt.events.map((event) => event.id);
    expect(parts({ ...receipt, head: before.head })).toEqual([...ids, 'summary']);
    const cut = receipt.path.map((proof) => ({ ...proof, hashes: proof.hashes.slice(0, -1) }));
    expect(parts({ ...receipt, path: cut })).toEqual(ids);
    expect(parts({ ...receipt, path: receipt.path.slice(1) })).toEqual(['path', ids[0]]);
    // A log of our own, signed by a key of our own: only the key tells.
    expect(verifyReceipt(before)).toEqual([]);
  });

  it('is refused for an event that is not the one that was sealed', async () => {
    const id = await sendNow('ada@example.com');
    const { events } = await receiptOf(id);
    const [first] = events;
    await test.app.store.write((trx) =>
      sql`update events set status = 'sent' where id = ${first?.id}`.execute(trx),
    );
    await expect(receiptOf(id)).rejects.toThrow(
      new ConflictError(
        'message',
        `Event ${first?.id} is not the one that was sealed: run "svc events verify"`,
      ),
    );
  });

  it('outlives the deletion of its message; another message is then still proven', async () => {
    const id = await sendNow('ada@example.com');
    const other = await sendNow('bob@example.com');
    const receipt = await receiptOf(id);
    await deleteMessage(test.app, test.caller, id);
    expect(verifyReceipt(receipt)).toEqual([]);
    await expect(receiptOf(id)).rejects.toBeInstanceOf(ResourceNotFoundError);
    expect(verifyReceipt(await receiptOf(other))).toEqual([]);
  });

  it('is not given to another organization', async () => {
    const id = await sendNow('ada@example.com');
    const foreign = await anotherOrganization(test.app, 'other');
    await expect(buildReceipt(test.app, foreign, id)).rejects.toBeInstanceOf(ResourceNotFoundError);
  });
});

describe('verifyReceipt', () => {
  it.each([null, 1, 'text', [], {}, { version: 1 }])('says that %j is not a receipt', (value) => {
    const problems = verifyReceipt(value);
    expect(problems[0]?.problem).toMatch(/^not the form of a receipt/);
  });
});
