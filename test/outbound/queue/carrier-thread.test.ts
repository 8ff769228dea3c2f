// The carrier on its thread, against real servers: it sends the same bytes as composing on this
// thread, its reports reach the main thread, and no call waits for a thread that has ended.
import { spawn } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { composeHere } from '../../../src/mail/mime/composer.ts';
import type { SigningKey } from '../../../src/mail/mime/dkim/dkim-key.ts';
import type { ComposeRequest } from '../../../src/mail/mime/input.ts';
import { loadProviders } from '../../../src/mail/smtp/load-providers.ts';
import type { KeptPolicies, KeptPolicy } from '../../../src/mail/smtp/mta-sts-fetch.ts';
import type { Outcome } from '../../../src/mail/smtp/outcome.ts';
import type { Providers } from '../../../src/mail/smtp/providers.ts';
import type { Carrier, Envelope } from '../../../src/outbound/queue/carrier/carrier.ts';
import { createCarrierThread } from '../../../src/outbound/queue/carrier/carrier-thread.ts';
import type { CarrierReport } from '../../../src/outbound/queue/carrier/carrier-worker.ts';
import { Lanes } from '../../../src/outbound/queue/lanes/lanes.ts';
import { noPortion, partOf } from '../../../src/platform/runtime/fairness/portion.ts';
import { createLogger } from '../../../src/platform/runtime/log.ts';
import { systemRandom } from '../../../src/platform/runtime/random.ts';
import { plainInput } from '../../mail/mime/compose-corpus.ts';
import { ed25519Key, rsaKey, timestampSeconds } from '../../mail/mime/test-keys.ts';
import { direct, relay } from '../../mail/smtp/test-routes.ts';
import { finished } from '../../support/cli.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const ed25519 = ed25519Key();

let dns: DnsServer;
let sink: SmtpSink;
let service: TestApp;
let providers: Providers;
let lanes: Lanes;
let kept: Map<string, KeptPolicy>;
let carrier: Carrier;
let logged: string[];
/** Every thread of the carrier, in the order of their start. */
let threads: Worker[];
const onThread = (worker: Worker) => void threads.push(worker);

beforeEach(async () => {
  threads = [];
  process.on('worker', onThread);
  dns = await startDnsServer();
  sink = await startSmtpSink({ tls: false });
  service = await testApp({ config: { dns: { servers: [dns.address] } } });
  providers = loadProviders(null, 5);
  lanes = new Lanes(service.clock, systemRandom(), providers);
  kept = new Map();
  const policies: KeptPolicies = {
    find: async (domain) => kept.get(domain) ?? null,
    keep: async (domain, policy) => void kept.set(domain, policy),
  };
  logged = [];
  const destination = { write: (line: string) => void logged.push(line) };
  const log = await createLogger({ level: 'info', pretty: false, destination });
  carrier = createCarrierThread({ ...service.app, log }, { providers, lanes, policies });
});

afterEach(async () => {
  await carrier.close();
  process.off('worker', onThread);
  await service.close();
  await sink.close();
  await dns.close();
});

function requestOf(
  change: Partial<ComposeRequest['input']> = {},
  keys: readonly SigningKey[] = [ed25519],
): ComposeRequest {
  return { input: { ...plainInput, ...change }, keys, timestampSeconds };
}

/** Returns an envelope for the sink. */
function relayed(...recipients: string[]): Envelope {
  return {
    route: relay(sink.port),
    organizationId: 'org_a',
    from: 'bounce@sender.test',
    recipients,
  };
}

/** Returns an envelope for the mail hosts that the DNS names. */
function sentTo(domain: string): Envelope {
  const route = direct(sink.port, { domain });
  return {
    route,
    organizationId: 'org_a',
    from: 'bounce@sender.test',
    recipients: [`b@${domain}`],
  };
}

function publishHost(domain: string): void {
  dns.set(domain, 'MX', [{ exchange: `mx1.${domain}`, preference: 10 }]);
  dns.set(`mx1.${domain}`, 'A', ['127.0.0.1']);
}

const carryAll = (requests: readonly ComposeRequest[], envelope = relayed('b@example.test')) =>
  Promise.all(requests.flatMap((request) => carrier.carry({ request, envelopes: [envelope] })));

/** Expects the mail that this thread composes from the requests, in any order. */
async function expectArrived(requests: readonly ComposeRequest[]): Promise<void> {
  const made = await Promise.all(requests.map(composeHere));
  const texts = made.map(({ data }) => Buffer.concat(data).toString('latin1')).sort();
  const came = sink.messages.map(({ raw }) => raw.toString('latin1')).sort();
  expect(came).toEqual(texts);
}

describe('the mail that the carrier sends', () => {
  const keySets: [string, SigningKey[]][] = [
    ['Ed25519', [ed25519]],
    ['RSA', [rsaKey]],
    ['both', [rsaKey, ed25519]],
    ['no key', []],
  ];
  it.each(keySets.flatMap(([name, keys]) => [1, 60].map((count) => [count, name, keys] as const)))(
    'equals the mail composed on this thread, for %i at once signed with %s',
    async (count, _name, keys) => {
      const requests = Array.from({ length: count }, (_, index) => {
        return requestOf({ subject: `grüße ${index}`, text: `.${index}\n` }, keys);
      });
      const outcomes = (await carryAll(requests)).flat();
      expect(outcomes.map(({ kind }) => kind)).toEqual(requests.map(() => 'sent'));
      await expectArrived(requests);
    },
  );

  it.each(keySets)('has complete attachments and large texts, with %s', async (_name, keys) => {
    const attachment = (content: Buffer) => ({
      filename: 'a.bin',
      contentType: 'application/pdf',
      contentId: null,
      content,
    });
    const many = Buffer.alloc(300_000, 'attachment ');
    const requests = [
      // A part of a larger memory, as small Buffers are.
      requestOf({ attachments: [attachment(many.subarray(5, 2_000)), attachment(many)] }, keys),
      requestOf({ text: 'word '.repeat(100_000) }, keys),
      requestOf({ text: 'beside them' }, keys),
    ];
    await carryAll(requests);
    await expectArrived(requests);
    expect(many.length).toBe(300_000);
  });

  it('is composed once for several envelopes and reported for each recipient', async () => {
    sink.on({ verb: 'RCPT', match: /nobody/ }, '550 5.1.1 no such user');
    const envelopes = [relayed('a@one.test', 'nobody@one.test'), relayed('c@two.test')];
    const outcomes = await Promise.all(carrier.carry({ request: requestOf(), envelopes }));
    expect(outcomes.map((ones) => ones.map(({ kind }) => kind))).toEqual([
      ['sent', 'bounced'],
      ['sent'],
    ]);
    expect(outcomes[0]?.[1]).toMatchObject({
      errorCode: 'invalid-recipient',
      reply: { code: 550, enhancedCode: '5.1.1', text: 'no such user', verb: 'RCPT' },
      trace: { host: '127.0.0.1', transcript: expect.stringContaining('nobody@one.test') },
    });
    expect(sink.messages.map(({ recipients }) => recipients).sort()).toEqual([
      ['a@one.test'],
      ['c@two.test'],
    ]);
    expect(threads).toHaveLength(1);
  });

  it('leaves out a message that fails to compose, with the reason, and no other', async () => {
    const noSecret = { ...rsaKey, privateKey: createPublicKey(rsaKey.privateKey) };
    const wrong = { ...rsaKey, algorithm: 'ed25519-sha256' as const };
    const asked = [
      requestOf({ text: 'a' }),
      requestOf({ subject: 'two\nlines' }),
      requestOf({ subject: 'two\nlines' }, [rsaKey]),
      requestOf({}, [noSecret]),
      requestOf({}, [wrong]),
      requestOf({ text: 'b' }, [rsaKey]),
    ];
    const results = await Promise.allSettled(asked.map((request) => carryAll([request])));
    expect(results.map((one) => (one.status === 'rejected' ? one.reason.message : 'sent'))).toEqual(
      [
        'sent',
        'subject cannot be written into a header',
        'subject cannot be written into a header',
        expect.stringMatching(/key/i),
        'DKIM key r1._domainkey.sandbox.test is not ed25519-sha256',
        'sent',
      ],
    );
    await expectArrived([asked[0], asked[5]].flatMap((one) => one ?? []));
  });
});

describe('the reports of the carrier', () => {
  it('give the lane of a domain once its mail hosts are known', async () => {
    publishHost('one.test');
    expect(lanes.ofDomain('one.test')).toBe('domain one.test');
    const [outcome] = await Promise.all(
      carrier.carry({ request: requestOf(), envelopes: [sentTo('one.test')] }),
    );
    expect(outcome?.[0]).toMatchObject({ kind: 'sent', trace: { host: 'mx1.one.test' } });
    expect(lanes.ofDomain('one.test')).toBe('mx mx1.one.test');
  });

  it('use a stored MTA-STS policy without asking the policy host', async () => {
    publishHost('one.test');
    dns.set('_mta-sts.one.test', 'TXT', ['v=STSv1; id=7;']);
    const text = 'version: STSv1\r\nmode: enforce\r\nmx: other.test\r\nmax_age: 604800\r\n';
    const now = Date.now();
    kept.set('one.test', { id: '7', text, fetchedAt: now, expiresAt: now + 3_600_000 });
    const [outcome] = await Promise.all(
      carrier.carry({ request: requestOf(), envelopes: [sentTo('one.test')] }),
    );
    expect(outcome?.[0]).toMatchObject({ kind: 'deferred', errorCode: 'policy' });
    expect(sink.messages).toHaveLength(0);
  });

  it('leave free the connections of other daemons, and wait without a part', async () => {
    publishHost('shared.test');
    sink.on({ verb: 'dot' }, { dripMsPerByte: 2, text: '250 2.0.0 Ok\r\n' });
    const lane = 'mx mx1.shared.test';
    const places = [{ count: 3, rank: 1 }];
    const part = partOf(5, lane, { places, taken: {} });
    const requests = Array.from({ length: 20 }, (_, n) => requestOf({ subject: `mail ${n}` }));
    carrier.divide({ places, taken: {} }, 60_000);
    await carryAll(requests, sentTo('shared.test'));
    expect(sink.connections.peak).toBe(part);
    carrier.divide(noPortion, 60_000);
    const waiting = carryAll(requests, sentTo('shared.test'));
    await expect.poll(() => sink.connections.now).toBe(0);
    expect(sink.messages).toHaveLength(20);
    carrier.divide({ places: [{ count: 1, rank: 0 }], taken: { [lane]: 2 } }, 60_000);
    const outcomes = (await waiting).flat();
    expect(outcomes.filter(({ kind }) => kind !== 'sent')).toEqual([]);
    expect(sink.connections.peak).toBe(3);
    await sink.waitFor(40);
  });

  it('have no part once its time is over', async () => {
    publishHost('over.test');
    carrier.divide({ places: [{ count: 1, rank: 0 }], taken: {} }, 500);
    await carryAll([requestOf()], sentTo('over.test'));
    // The idle connection is closed, as another daemon may have its place now.
    await expect.poll(() => sink.connections.now, { timeout: 10_000 }).toBe(0);
  });

  it('demand TLS once replaced rules of providers do', async () => {
    publishHost('rules.test');
    const before = await carryAll([requestOf()], sentTo('rules.test'));
    expect(before.flat().map(({ kind }) => kind)).toEqual(['sent']);
    const fallback = { ...providers.rules.fallback, requireTls: true };
    providers.replace({ all: [fallback], fallback });
    carrier.changeRules();
    const after = await carryAll([requestOf()], sentTo('rules.test'));
    expect(after.flat().map(({ kind }) => kind)).toEqual(['deferred']);
    expect(sink.messages).toHaveLength(1);
  });

  it('store a fetched policy and forward the log', async () => {
    await carryAll([requestOf()]);
    const report = (message: CarrierReport) => threads[0]?.emit('message', message);
    const policy = { id: '1', text: 'mode: none', fetchedAt: 1, expiresAt: 2 };
    report({ kind: 'keep-policy', domain: 'one.test', policy });
    report({ kind: 'log', level: 'warn', facts: { domain: 'one.test' }, text: 'a word' });
    expect(kept.get('one.test')).toEqual(policy);
    expect(JSON.parse(logged[0] ?? '')).toMatchObject({
      level: 'warn',
      domain: 'one.test',
      msg: 'a word',
    });
  });
});

describe('the end of the carrier', () => {
  /** Sends one message that reaches the sink and gets no answer. */
  async function carryInVain(): Promise<{ carried: Promise<Outcome[]>; answerAgain: () => void }> {
    const answerAgain = sink.on({ verb: 'dot' }, { hang: true });
    const [carried] = carrier.carry({ request: requestOf(), envelopes: [relayed('b@one.test')] });
    if (!carried) throw new Error('nothing is carried');
    const isHeard = () => sink.commands.some(({ line }) => line === 'DATA');
    await expect.poll(isHeard, { timeout: 30_000 }).toBe(true);
    return { carried, answerAgain };
  }

  it('by a fault returns the mail under way and starts a new thread for the next', async () => {
    const { carried, answerAgain } = await carryInVain();
    const failed = expect(carried).rejects.toThrow('the thread that carried the mail ended');
    threads[0]?.emit('error', new Error('out of memory'));
    await threads[0]?.terminate();
    await failed;
    expect(logged.join()).toContain('the thread that carries mail failed');
    expect(logged.join()).toContain('out of memory');
    answerAgain();
    const requests = [
      requestOf({ text: 'again' }),
      requestOf({ text: 'again' }, [rsaKey, ed25519]),
    ];
    expect((await carryAll(requests)).flat().map(({ kind }) => kind)).toEqual(['sent', 'sent']);
    await expectArrived(requests);
    expect(threads).toHaveLength(2);
  });

  it('by closing cuts the mail under way and refuses later mail', async () => {
    const { carried } = await carryInVain();
    await carrier.close();
    expect(await carried).toMatchObject([{ kind: 'deferred', errorCode: 'connection' }]);
    await expect(carryAll([requestOf()])).rejects.toThrow('the service is shutting down');
    await expect(carryAll([requestOf({}, [rsaKey])])).rejects.toThrow(
      'the service is shutting down',
    );
    expect(threads).toHaveLength(1);
    await expect.poll(() => sink.connections.now, { timeout: 30_000 }).toBe(0);
  });

  it('is forced on a thread that does not stop', async () => {
    const { carried } = await carryInVain();
    const failed = expect(carried).rejects.toThrow('the thread that carried the mail ended');
    const [thread] = threads;
    if (!thread) throw new Error('no thread');
    thread.postMessage = () => {};
    const closed = carrier.close();
    await service.clock.advance(5_000);
    await closed;
    await failed;
  });

  it('is awaited by a process without other work', async () => {
    const script = fileURLToPath(new URL('./carrier-closing-process.ts', import.meta.url));
    const { code, stdout } = await finished(spawn(process.execPath, [script]));
    expect([code, stdout]).toEqual([0, 'sent\nclosed\n']);
  });

  it('starts no thread when nothing was carried', async () => {
    await carrier.close();
    expect(threads).toHaveLength(0);
  });
});
