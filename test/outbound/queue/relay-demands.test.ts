// Mail for relays with demands of their own: fewer DKIM signatures, and no 8-bit content.
import { readFileSync } from 'node:fs';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listDomains } from '../../../src/identity/domains/domains.ts';
import { parseMime } from '../../../src/mail/parse/parse-mime.ts';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import { handIn } from '../../../src/outbound/sending/hand-in/hand-in.ts';
import { readRawMail } from '../../../src/outbound/sending/stored-parts.ts';
import { stores } from '../../support/command.ts';
import { type RunningPipeline, send, startPipeline } from '../../support/delivery.ts';
import { type SmtpSink, standardExtensions, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const both = ['rsa-sha256', 'ed25519-sha256'];

describe.each(stores)('a relay, on %s', (store) => {
  let test: TestApp;
  let pipeline: RunningPipeline;
  /** `old` offers no 8BITMIME. */
  let sinks: Record<'rest' | 'rsa' | 'none' | 'old', SmtpSink>;

  beforeEach(async () => {
    const extensions = standardExtensions.filter((name) => !/8BITMIME|SMTPUTF8/.test(name));
    const [rest, rsa, none, old] = await Promise.all([
      ...Array.from({ length: 3 }, () => startSmtpSink()),
      startSmtpSink({ extensions }),
    ]);
    if (!rest || !rsa || !none || !old) throw new Error('no sinks');
    sinks = { rest, rsa, none, old };
    const to = ({ host, port }: SmtpSink) => ({ via: 'relay' as const, host, port });
    const routes = [
      { match: 'rsa.example', ...to(rsa), dkim: ['rsa' as const] },
      { match: 'none.example', ...to(none), dkim: [] },
      { match: 'ed.example', via: 'relay' as const, dkim: ['ed25519' as const] },
      { match: 'old.example', ...to(old) },
    ];
    const relay = { host: rest.host, port: rest.port };
    test = await testApp({ store, config: { delivery: { mode: 'relay', relay, routes } } });
    pipeline = await startPipeline(test.app);
  });
  afterEach(async () => {
    await pipeline.close();
    await test.close();
    await Promise.all(Object.values(sinks).map((sink) => sink.close()));
  });

  /** Returns the algorithm and the verdict of each signature. */
  async function signatures(raw: Buffer): Promise<[string, string][]> {
    const { items } = await listDomains(test.app, test.caller, { page: 1, limit: 20 });
    const records = items.flatMap(({ dnsRecords }) => dnsRecords);
    const { results } = await dkimVerify(raw, {
      resolver: async (at: string) => {
        const found = records.filter(({ name }) => name === at);
        if (found.length === 0) throw Object.assign(new Error(at), { code: 'ENOTFOUND' });
        return found.map(({ value }) => value.match(/.{1,255}/g) ?? []);
      },
    });
    return results.flatMap(({ algo, status }) =>
      algo ? [[String(algo), String(status.result)] as [string, string]] : [],
    );
  }

  const mailOf = (sink: SmtpSink, recipient: string) => {
    const found = sink.messages.findLast(({ recipients }) => recipients.includes(recipient));
    if (!found) throw new Error(`no mail for ${recipient}`);
    return found;
  };

  it('gets the signatures that its route chooses', async () => {
    const to = ['a@rsa.example', 'b@none.example', 'c@ed.example', 'd@rest.example'];
    const { id } = await send(test.app, test.caller, to);
    await pipeline.idle();
    const { deliveries } = await getMessage(test.app, test.caller, id);
    const expected = [
      [sinks.rsa, ['rsa-sha256']],
      [sinks.none, []],
      [sinks.rest, ['ed25519-sha256']],
      [sinks.rest, both],
    ] as const;
    for (const [index, [sink, algorithms]] of expected.entries()) {
      const recipient = to[index] ?? '';
      const { raw } = mailOf(sink, recipient);
      expect([recipient, await signatures(raw)]).toEqual([
        recipient,
        algorithms.map((algorithm) => [algorithm, 'pass']),
      ]);
      const [attempt] = deliveries[index]?.attempts ?? [];
      expect(attempt?.signedWith?.selectors).toHaveLength(algorithms.length);
      const stored = await readRawMail(test.app, test.caller, id, recipient);
      expect(stored.body.equals(raw)).toBe(true);
      expect(stored.missingKeys).toEqual([]);
    }
  });

  it('gets one mail for recipients with equal signatures', async () => {
    await send(test.app, test.caller, ['a@rsa.example', 'b@rsa.example']);
    await pipeline.idle();
    expect(sinks.rsa.messages.map(({ recipients }) => recipients)).toEqual([
      ['a@rsa.example', 'b@rsa.example'],
    ]);
  });

  const fixture = (name: string) =>
    readFileSync(new URL(`../../fixtures/eight-bit/${name}.eml`, import.meta.url));

  async function handed(name: string, recipients: readonly string[]): Promise<string> {
    const { id } = await handIn(test.app, test.operator, {
      raw: fixture(name),
      recipients,
      allowsUtf8: false,
      bareDomain: null,
      via: 'sendmail',
      user: null,
    });
    await pipeline.idle();
    return id;
  }

  it.each(['text-utf8', 'alternative', 'forwarded', 'binary-attachment', 'without-mime-utf8'])(
    'without 8BITMIME gets 8-bit mail encoded, and then signed: %s',
    async (name) => {
      const id = await handed(name, ['a@old.example', 'b@rest.example']);
      const encoded = mailOf(sinks.old, 'a@old.example');
      const plain = mailOf(sinks.rest, 'b@rest.example');
      expect(encoded.raw.every((byte) => byte < 0x80)).toBe(true);
      expect(encoded.mailParams.join()).not.toContain('BODY');
      expect(plain.raw.every((byte) => byte < 0x80)).toBe(false);
      expect(plain.mailParams).toContain('BODY=8BITMIME');
      for (const { raw } of [encoded, plain]) {
        expect(await signatures(raw)).toEqual(both.map((algorithm) => [algorithm, 'pass']));
      }
      const [before, after] = await Promise.all([parseMime(plain.raw), parseMime(encoded.raw)]);
      expect([after.text, after.html]).toEqual([before.text, before.html]);
      const { deliveries } = await getMessage(test.app, test.caller, id);
      expect(deliveries.map(({ attempts }) => attempts[0]?.sevenBit)).toEqual([true, undefined]);
      for (const { raw, recipients } of [encoded, plain]) {
        const stored = await readRawMail(test.app, test.caller, id, recipients[0]);
        expect(stored.body.equals(raw)).toBe(true);
      }
    },
  );

  it('without 8BITMIME gets no mail whose parts cannot be encoded', async () => {
    const id = await handed('no-signed', ['a@old.example', 'b@rest.example']);
    const { deliveries } = await getMessage(test.app, test.caller, id);
    expect(deliveries).toMatchObject([
      { status: 'failed', errorCode: 'protocol', errorDetails: { enhancedCode: '5.6.3' } },
      { status: 'sent' },
    ]);
    expect(sinks.old.messages).toEqual([]);
  });
});
