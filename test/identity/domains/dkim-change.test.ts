// New DKIM keys: made here or brought along, under names that their owner chooses.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importDkim, rotateDkim } from '../../../src/identity/domains/dkim-change.ts';
import { addDomain, getDomain } from '../../../src/identity/domains/domains.ts';
import type { Domain } from '../../../src/identity/domains/schema.ts';
import { importDkimInput, rotateDkimInput } from '../../../src/identity/domains/schema.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { ConflictError, ValidationError } from '../../../src/platform/errors.ts';
import { stores } from '../../support/command.ts';
import { type RunningPipeline, send, startPipeline } from '../../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { passingTime } from '../../support/virtual-clock.ts';
import { startZone, type Zone } from './zone.ts';

const name = 'acme.example';
const day = 86_400_000;

const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const ed25519 = () => pem(generateKeyPairSync('ed25519').privateKey);
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength });

describe.each(stores)('the DKIM keys of a domain on %s', (store) => {
  let test: TestApp;
  let zone: Zone;
  let sink: SmtpSink;
  let pipeline: RunningPipeline;
  let domain: Domain;
  beforeEach(async () => {
    zone = await startZone();
    sink = await startSmtpSink();
    const relay = { host: sink.host, port: sink.port };
    test = await testApp({
      store,
      config: {
        delivery: { mode: 'relay', relay, hostname: 'mail.host.example' },
        dns: { servers: [zone.server] },
      },
    });
    pipeline = await startPipeline(test.app);
    domain = await addDomain(test.app, test.caller, { domain: name, dkim: 'rsa' });
  });
  afterEach(async () => {
    await pipeline.close();
    await test.close();
    await sink.close();
    await zone.close();
  });

  const shown = () => getDomain(test.app, test.caller, domain.id);
  const verify = () => verifyDomain(test.app, test.caller, domain.id);
  const bring = (selector: string, privateKey: string) =>
    importDkim(test.app, test.caller, domain.id, { selector, privateKey });
  /** Publishes all records as they are shown now, beside the earlier ones. */
  async function publish() {
    const { dnsRecords } = await shown();
    for (const { type, name: at, value } of dnsRecords) zone.records.set(`${type} ${at}`, [value]);
    return verify();
  }
  const dkimRecords = ({ dnsRecords }: Domain) =>
    dnsRecords
      .filter(({ purpose }) => purpose === 'dkim')
      .map(({ name: at, keepUntil = null }) => [at.split('.')[0], keepUntil]);

  it('sign with an imported key once its record is found, of both algorithms', async () => {
    await publish();
    await bring('old', pem(rsa(1024).privateKey));
    await bring('old-ed', ed25519());
    expect(
      (await shown()).dkimKeys.map(({ selector, published }) => [selector, published]),
    ).toEqual([
      ['svc1rsa', true],
      ['old', false],
      ['old-ed', false],
    ]);
    const { status, dkimKeys } = await publish();
    expect(status).toBe('verified');
    expect(dkimKeys.map(({ selector, algorithm }) => [selector, algorithm])).toEqual([
      ['old', 'rsa-sha256'],
      ['old-ed', 'ed25519-sha256'],
    ]);
  });

  it('take the names that their owner chooses', async () => {
    const rotated = await rotateDkim(test.app, test.caller, domain.id, { selector: 'autumn' });
    expect(rotated.dkimKeys.map(({ selector }) => selector)).toEqual(['autumn']);
    await bring('winter-ed', ed25519());
    const both = await rotateDkim(test.app, test.caller, domain.id, { selector: 'spring' });
    expect(both.dkimKeys.map(({ selector }) => selector)).toEqual(['springrsa', 'springed']);
    const again = rotateDkim(test.app, test.caller, domain.id, { selector: 'spring' });
    await expect(again).rejects.toThrow(ConflictError);
    await expect(bring('svc1rsa', ed25519())).rejects.toThrow('names another key of acme.example');
  });

  it('stay in the list for 7 days after their last use, and say until when', async () => {
    await publish();
    await rotateDkim(test.app, test.caller, domain.id);
    expect(dkimRecords(await shown())).toEqual([
      ['svc1rsa', null],
      ['svc2rsa', null],
    ]);
    const changed = await publish();
    const until = '2026-01-12T12:00:00.000Z';
    expect(dkimRecords(changed)).toEqual([
      ['svc2rsa', null],
      ['svc1rsa', until],
    ]);
    expect(changed.dnsRecords[1]).toMatchObject({
      required: false,
      status: 'valid',
      advice: 'keep until 2026-01-12: mail on its way is signed with this key',
    });
    await test.clock.advance(7 * day - 1);
    expect(dkimRecords(await shown())).toHaveLength(2);
    await test.clock.advance(1);
    expect(dkimRecords(await shown())).toEqual([['svc2rsa', null]]);
  });

  it('drop a key that was never used without a word', async () => {
    await rotateDkim(test.app, test.caller, domain.id);
    expect(dkimRecords(await shown())).toEqual([['svc2rsa', null]]);
  });

  it('let each of 1,000 messages verify over two changes of keys', async () => {
    await publish();
    const each = 250;
    let sent = 0;
    const verified = new Map<string, number>();
    const sendSome = async () => {
      const sends = Array.from({ length: each }, () =>
        send(test.app, test.caller, ['ada@example.com'], { from: { email: `hello@${name}` } }),
      );
      await Promise.all(sends);
      sent += each;
    };
    await sendSome();
    await passingTime(test.clock, sink.waitFor(sent), 50);
    // Mail of these is on its way while the keys change.
    const under = [sendSome(), rotateDkim(test.app, test.caller, domain.id)];
    await Promise.all(under);
    await Promise.all([publish(), sendSome()]);
    await bring('mine', pem(rsa(2048).privateKey));
    await Promise.all([publish(), sendSome()]);
    const mails = await passingTime(test.clock, sink.waitFor(sent), 50);
    for (const { raw } of mails) {
      const { results } = await dkimVerify(raw, {
        resolver: async (at: string) => {
          const found = zone.records.get(`TXT ${at}`);
          if (!found) throw Object.assign(new Error(at), { code: 'ENOTFOUND' });
          return found.map((text) => text.match(/.{1,255}/g) ?? []);
        },
      });
      const [signature] = results;
      expect(signature?.status.result).toBe('pass');
      const selector = String(signature?.selector);
      verified.set(selector, (verified.get(selector) ?? 0) + 1);
    }
    const counts = [...verified.values()].reduce((sum, count) => sum + count, 0);
    expect(counts).toBe(1_000);
    expect(verified.get('svc1rsa')).toBeGreaterThanOrEqual(each);
    expect(verified.get('mine')).toBeGreaterThan(0);
  });
});

describe('a key to import', () => {
  const publicPem = rsa(2048).publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const locked = rsa(2048).privateKey.export({
    ...{ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
  } as never);
  const curve = pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
  const x25519 = pem(generateKeyPairSync('x25519').privateKey);

  it.each([
    ['behind a passphrase', String(locked), 'is protected by a passphrase'],
    ['without its private half', publicPem, 'is only the public half of the key'],
    ['of another curve', curve, 'is a key of the type ec: DKIM signs with RSA or Ed25519'],
    ['for agreement alone', x25519, 'is a key of the type x25519'],
    ['too short', pem(rsa(512).privateKey), 'has 512 bits: receivers accept 1024 to 4096'],
    ['that is a text', 'hello', 'is not a private key in PEM'],
    ['cut in half', pem(rsa(2048).privateKey).slice(0, 900), 'is not a private key in PEM'],
  ])('%s is refused by name', async (_what, privateKey, says) => {
    const test = await testApp();
    try {
      const { id } = await addDomain(test.app, test.caller, { domain: name, dkim: 'ed25519' });
      const imported = importDkim(test.app, test.caller, id, { selector: 's', privateKey });
      const error = await imported.catch((one: Error) => one);
      expect(error).toBeInstanceOf(ValidationError);
      const { fieldErrors } = error as ValidationError;
      expect(fieldErrors).toEqual({ privateKey: [expect.stringContaining(says)] });
      for (const part of privateKey.match(/.{30}/g) ?? []) {
        expect((error as Error).message).not.toContain(part);
      }
    } finally {
      await test.close();
    }
  });

  it.each(['-a', 'a-', 'a.b', 'ä', 'a b', '', 'a'.repeat(64), '_a'])(
    'has no selector %j',
    (selector) => {
      expect(importDkimInput.safeParse({ selector, privateKey: 'x' }).success).toBe(false);
      expect(rotateDkimInput.safeParse({ selector }).success).toBe(false);
    },
  );
});
