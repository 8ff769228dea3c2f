// SPF, DKIM and DMARC verdicts of received mails against a zone held in memory.
import { generateKeyPairSync } from 'node:crypto';
import { dkimSign, sealMessage } from 'mailauth';
import { beforeAll, describe, expect, it } from 'vitest';
import { type AuthSession, authenticate } from '../../../src/inbox/receiving/authenticate.ts';
import type { AuthResolver } from '../../../src/inbox/receiving/check-lookups.ts';
import { type Clock, systemClock } from '../../../src/platform/runtime/clock.ts';
import { mail } from '../../mail/parse/fixture.ts';
import { passingTime, virtualClock } from '../../support/virtual-clock.ts';
import { startWork, workedMs } from '../../support/work-time.ts';

function dnsError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

const keys = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ed25519: generateKeyPairSync('ed25519'),
};
const rsaKey = keys.rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
const edKey = keys.ed25519.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);

/** Ten domains with ten mail hosts each. */
const floodHosts = Array.from({ length: 10 }, (_, n) => `m${n}.flood.example`);
const floodMail = Array.from({ length: 10 }, (_, n) => ({ exchange: '', priority: n }));

const records: Record<string, string[][]> = {
  'rsa._domainkey.example.com': [['v=DKIM1; k=rsa; p=', rsaKey]],
  'ed._domainkey.example.com': [[`v=DKIM1; k=ed25519; p=${edKey.toString('base64')}`]],
  'example.com': [['v=spf1 ip4:192.0.2.1 -all']],
  '_dmarc.example.com': [['v=DMARC1; p=reject']],
  'rsa._domainkey.lists.example': [['v=DKIM1; k=rsa; p=', rsaKey]],
  'rsa._domainkey.relay.example': [['v=DKIM1; k=rsa; p=', rsaKey]],
  'rsa._domainkey.stranger.example': [['v=DKIM1; k=rsa; p=', rsaKey]],
  'soft.example': [['v=spf1 ~all']],
  '_dmarc.soft.example': [['v=DMARC1; p=quarantine']],
  'broken.example': [['v=spf1 ip4:not-an-address -all']],
  'loop.example': [['v=spf1 include:loop.example -all']],
  'a.b.c.d.e.f.example.com': [['v=spf1 include:soft.example include:explains.example +all']],
  'includes.example': [['v=spf1 ip4:192.0.2.1 include:silent.example -all']],
  'explains.example': [['v=spf1 exp=why.example -all']],
  'flood.example': [[`v=spf1 ${floodHosts.map((host) => `mx:${host}`).join(' ')} -all`]],
};

const zone: AuthResolver = (name, type) => {
  if (type === 'MX' && floodHosts.includes(name)) {
    return Promise.resolve(
      floodMail.map((mx, n) => ({ ...mx, exchange: `h${n}.flood.${name}` })) as never,
    );
  }
  const found = type === 'TXT' ? records[name] : undefined;
  return found ? Promise.resolve(found) : Promise.reject(dnsError('ENOTFOUND'));
};

/** The zone, with trouble at some names. */
const troubled =
  (...names: string[]): AuthResolver =>
  (name, type) =>
    names.includes(name) ? Promise.reject(dnsError('ESERVFAIL')) : zone(name, type);

const session: AuthSession = {
  ip: '192.0.2.1',
  helo: 'mx.example.com',
  mailFrom: 'alice@example.com',
  mta: 'mx.receiver.example',
  resolver: zone,
  clock: systemClock,
  trustedSealers: new Set(),
};
const stranger = { ...session, ip: '198.51.100.7' };

function message(from = 'alice@example.com', body = 'Hello\r\n'): Buffer {
  return mail([`From: ${from}`, 'To: bob@receiver.example', 'Subject: Plan'], body);
}

async function signed(raw: Buffer, algorithm: 'rsa' | 'ed25519' = 'rsa') {
  const key = {
    signingDomain: 'example.com',
    selector: algorithm === 'rsa' ? 'rsa' : 'ed',
    privateKey: keys[algorithm].privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    algorithm: `${algorithm}-sha256`,
  };
  // mailauth reads `signatureData` alone, its types know the flat form alone.
  const options = { ...key, signatureData: [key] };
  const { signatures } = await dkimSign(raw, options);
  return Buffer.concat([Buffer.from(signatures), raw]);
}

/** Adds an ARC set with these results and nothing else. The first set has `cv` none. */
async function withSeal(
  raw: Buffer,
  results = 'mx.example.com; dmarc=none',
  signingDomain = 'example.com',
  cv = 'none',
): Promise<Buffer> {
  const seal = await sealMessage(raw, {
    signingDomain,
    selector: 'rsa',
    privateKey: keys.rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    authResults: results,
    cv,
  });
  return Buffer.concat([seal, raw]);
}

/** Loads mailauth before virtual time starts. */
beforeAll(() => authenticate(message(), session));

describe('an authentic mail', () => {
  it.each(['rsa', 'ed25519'] as const)(
    'passes DMARC with an aligned %s signature',
    async (algorithm) => {
      const result = await authenticate(await signed(message(), algorithm), stranger);
      expect(result).toMatchObject({
        dkimVerdict: 'pass',
        spfVerdict: 'fail',
        dmarcVerdict: 'pass',
        dmarcPolicy: 'reject',
        dmarcDomain: 'example.com',
      });
      expect(result.authenticationResults).toMatch(
        /^mx\.receiver\.example; dkim=pass .*; spf=fail .*; dmarc=pass /,
      );
      expect(result.authenticationResults).not.toMatch(/[\r\n]/);
    },
  );

  it('passes DMARC with an aligned SPF pass and no signature', async () => {
    expect(await authenticate(message(), session)).toMatchObject({
      dkimVerdict: 'none',
      spfVerdict: 'pass',
      dmarcVerdict: 'pass',
    });
  });
});

describe('a forged mail', () => {
  it('passes DMARC with an aligned SPF pass and no signature', async () => {
    const raw = Buffer.concat([await signed(message()), Buffer.from('P.S. pay here\r\n')]);
    expect(await authenticate(raw, stranger)).toMatchObject({
      dkimVerdict: 'fail',
      dmarcVerdict: 'fail',
      dmarcPolicy: 'reject',
    });
  });

  it('fails DKIM when a signed header field was changed', async () => {
    const raw = await signed(message());
    const changed = Buffer.from(raw.toString().replace('Subject: Plan', 'Subject: Scam'));
    expect((await authenticate(changed, stranger)).dkimVerdict).toBe('fail');
  });

  it("fails DMARC when only another domain than the author's passes", async () => {
    const raw = await signed(message('ceo@soft.example'));
    expect(await authenticate(raw, session)).toMatchObject({
      dkimVerdict: 'pass',
      spfVerdict: 'pass',
      dmarcVerdict: 'fail',
      dmarcPolicy: 'quarantine',
      dmarcDomain: 'soft.example',
    });
  });
});

describe('the SPF verdict', () => {
  it.each([
    ['x@soft.example', 'softfail'],
    ['x@nothing.example', 'none'],
    ['x@broken.example', 'permerror'],
    ['x@loop.example', 'permerror'],
  ])('of %s is %s', async (mailFrom, verdict) => {
    expect((await authenticate(message(), { ...session, mailFrom })).spfVerdict).toBe(verdict);
  });

  it('takes the HELO name for the null return path', async () => {
    const helo = { ...session, mailFrom: '', helo: 'soft.example' };
    expect((await authenticate(message(), helo)).spfVerdict).toBe('softfail');
  });
});

describe('authentication during DNS trouble', () => {
  it('ends with temperror only in the check with the failed look-up', async () => {
    const resolver = troubled('rsa._domainkey.example.com');
    expect(await authenticate(await signed(message()), { ...session, resolver })).toMatchObject({
      dkimVerdict: 'temperror',
      spfVerdict: 'pass',
      dmarcVerdict: 'pass',
    });
  });

  it('ends with temperror for DMARC when an aligned check stays open', async () => {
    const resolver = troubled('rsa._domainkey.example.com');
    const raw = await signed(message());
    expect((await authenticate(raw, { ...stranger, resolver })).dmarcVerdict).toBe('temperror');
    const spf = { ...stranger, resolver: troubled('example.com') };
    expect((await authenticate(message(), spf)).dmarcVerdict).toBe('temperror');
  });

  it('fails DMARC of a forger with a broken domain', async () => {
    const resolver = troubled('forger.example');
    const forged = { ...stranger, mailFrom: 'x@forger.example', resolver };
    expect(await authenticate(message(), forged)).toMatchObject({
      spfVerdict: 'temperror',
      dmarcVerdict: 'fail',
    });
  });

  it('ends with temperror for every verdict after one time-out when DNS never answers', async () => {
    const clock = virtualClock();
    const resolver: AuthResolver = () => new Promise(() => {});
    const result = authenticate(await signed(message()), { ...session, resolver, clock });
    expect(await passingTime(clock, result, 50)).toMatchObject({
      dkimVerdict: 'temperror',
      spfVerdict: 'temperror',
      dmarcVerdict: 'temperror',
      dmarcPolicy: null,
      dmarcDomain: 'example.com',
      authenticationResults: expect.stringMatching(
        /^mx\.receiver\.example; dkim=temperror .*; spf=temperror .*; dmarc=temperror /,
      ),
    });
    expect(clock.elapsed()).toBe(1_500);
    expect(clock.nextTimerAt()).toBeUndefined();
  });
});

describe('an authentication with one check that hangs', () => {
  /** Answers from the zone after a delay, or never. */
  const slow =
    (clock: Clock, delayOf: (name: string, type: string) => number | null): AuthResolver =>
    async (name, type) => {
      const delayMs = delayOf(name, type);
      if (delayMs === null) return new Promise(() => {});
      if (delayMs > 0) await new Promise<void>((resolve) => clock.after(delayMs, resolve));
      return zone(name, type);
    };

  /** Authenticates the mail; returns the result and the time taken. */
  async function timed(raw: Buffer, delayOf: Parameters<typeof slow>[1], from = stranger) {
    const clock = virtualClock();
    const asked = { ...from, resolver: slow(clock, delayOf), clock };
    const result = await passingTime(clock, authenticate(raw, asked), 50);
    return { ...result, tookMs: clock.elapsed() };
  }

  const silent =
    (...names: string[]) =>
    (name: string) =>
      names.includes(name) ? null : 0;
  const changed = async () => Buffer.concat([await signed(message()), Buffer.from('P.S.\r\n')]);

  it("passes DMARC by the author's signature while SPF hangs", async () => {
    const raw = await signed(message());
    expect(await timed(raw, silent('example.com'))).toMatchObject({
      spfVerdict: 'temperror',
      dkimVerdict: 'pass',
      dmarcVerdict: 'pass',
      tookMs: 1_500,
    });
  });

  it("leaves DMARC at temperror and reads the policy when the author's SPF hangs", async () => {
    expect(await timed(await changed(), silent('example.com'))).toMatchObject({
      spfVerdict: 'temperror',
      dkimVerdict: 'fail',
      dmarcVerdict: 'temperror',
      dmarcPolicy: 'reject',
      dmarcDomain: 'example.com',
      authenticationResults: expect.stringContaining('; dmarc=temperror '),
      tookMs: 1_500,
    });
  });

  it("reads the policy while the author's SPF hangs", async () => {
    const delayOf = (name: string) =>
      name === 'example.com' ? null : name.startsWith('_dmarc.') ? 700 : 0;
    expect(await timed(message(), delayOf)).toMatchObject({
      dmarcVerdict: 'temperror',
      dmarcPolicy: 'reject',
      tookMs: 1_500,
    });
  });

  it('fails DMARC when the SPF of another domain hangs', async () => {
    const forger = { ...stranger, mailFrom: 'x@includes.example' };
    expect(await timed(await changed(), silent('silent.example'), forger)).toMatchObject({
      spfVerdict: 'temperror',
      dmarcVerdict: 'fail',
      dmarcPolicy: 'reject',
      tookMs: 1_500,
    });
  });

  it('passes SPF when a silent include stands behind the matching term', async () => {
    const sender = { ...session, mailFrom: 'x@includes.example' };
    expect(await timed(message(), silent('silent.example'), sender)).toMatchObject({
      spfVerdict: 'pass',
      tookMs: 0,
    });
  });

  it('times out only SPF when its record needs 100 slow look-ups', async () => {
    const flood = { ...stranger, mailFrom: 'x@flood.example' };
    const delayOf = (name: string) => (/^h\d+\.flood\./.test(name) ? 100 : 0);
    expect(await timed(await changed(), delayOf, flood)).toMatchObject({
      spfVerdict: 'temperror',
      dkimVerdict: 'fail',
      dmarcVerdict: 'fail',
      tookMs: 5_000,
    });
  });

  it('reads the policy while a key hangs, and passes DMARC by SPF', async () => {
    const raw = await signed(message());
    const key = silent('rsa._domainkey.example.com');
    expect(await timed(raw, key)).toMatchObject({
      dkimVerdict: 'temperror',
      dmarcVerdict: 'temperror',
      dmarcPolicy: 'reject',
      tookMs: 1_500,
    });
    expect(await timed(raw, key, session)).toMatchObject({ dmarcVerdict: 'pass' });
  });

  it('finds the tenth signature forged while the keys of nine others hang', async () => {
    const forged = (await signed(message())).toString().replace('Subject: Plan', 'Subject: Scam');
    const bodyHash = /bh=([^;]+);/.exec(forged)?.[1] ?? '';
    const bogus = Array.from(
      { length: 9 },
      (_, at) =>
        `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=d${at}.silent.example; s=s;\r\n` +
        ` h=from; bh=${bodyHash}; b=eA==\r\n`,
    );
    const raw = Buffer.from(bogus.join('') + forged);
    const result = await timed(raw, (name) => (name.endsWith('.silent.example') ? null : 0));
    expect(result.authenticationResults.match(/dkim=\w+/g)).toEqual([
      ...Array<string>(9).fill('dkim=temperror'),
      'dkim=fail',
    ]);
    expect(result.dmarcVerdict).toBe('fail');
    expect(result.tookMs).toBeLessThanOrEqual(5_000);
  });

  it('fails DMARC when the selector is not a valid name', async () => {
    const raw = (await signed(message())).toString().replace(/s=rsa;/, `s=${'x'.repeat(64)};`);
    const resolver: AuthResolver = (name, type) =>
      name.split('.').some((label) => label.length > 63)
        ? Promise.reject(dnsError('EBADNAME'))
        : zone(name, type);
    expect(await authenticate(Buffer.from(raw), { ...stranger, resolver })).toMatchObject({
      dkimVerdict: 'neutral',
      dmarcVerdict: 'fail',
    });
  });

  it('keeps the SPF and DKIM verdicts when the policy hangs', async () => {
    const raw = await signed(message());
    expect(await timed(raw, silent('_dmarc.example.com'))).toMatchObject({
      dkimVerdict: 'pass',
      spfVerdict: 'fail',
      dmarcVerdict: 'temperror',
      dmarcPolicy: null,
      tookMs: 1_500,
    });
  });

  it('does not look up the explanation of SPF', async () => {
    const sender = { ...stranger, mailFrom: 'x@explains.example' };
    expect(await timed(message(), silent('why.example'), sender)).toMatchObject({
      spfVerdict: 'fail',
      tookMs: 0,
    });
  });

  it('allows 2 s more for the alignment of a late pass, 7 s in all', async () => {
    const late = { ...stranger, mailFrom: 'x@a.b.c.d.e.f.example.com' };
    expect(await timed(message(), () => 1_400, late)).toMatchObject({
      spfVerdict: 'pass',
      dmarcVerdict: 'temperror',
      dmarcPolicy: 'reject',
      tookMs: 3 * 1_400 + 2_000,
    });
  });
});

describe('the verdicts on a mail', () => {
  it('stay at none without any record', async () => {
    const raw = message('x@nothing.example');
    expect(await authenticate(raw, { ...session, mailFrom: 'x@nothing.example' })).toMatchObject({
      dkimVerdict: 'none',
      spfVerdict: 'none',
      dmarcVerdict: 'none',
      dmarcPolicy: null,
    });
  });

  it.each([[['Subject: nobody']], [['From: a@example.com', 'From: b@example.net']]])(
    'are permerror for DMARC without exactly one author: %j',
    async (lines) => {
      expect((await authenticate(mail(lines), session)).dmarcVerdict).toBe('permerror');
    },
  );
});

describe('the policy reject of an author', () => {
  const own = ['From: x@soft.example'];
  const many = Array.from({ length: 9 }, (_, n) => `x@a${n}.soft.example`).join(', ');
  const long = Array<string>(50_000).fill('X: y');
  it.each<[string, string[]]>([
    ['a second From field', ['From: alice@example.com', ...own]],
    ['a first From field', [...own, 'From: alice@example.com']],
    ['a second address', ['From: alice@example.com, x@soft.example']],
    ['nine addresses', [`From: ${many}, alice@example.com`]],
    ['a header beyond its bound', ['From: alice@example.com', ...long]],
  ])('is not hidden by %s', async (_, lines) => {
    expect(await authenticate(mail(lines), stranger)).toMatchObject({
      dmarcVerdict: 'permerror',
      dmarcPolicy: 'reject',
      dmarcDomain: 'example.com',
    });
    expect(await authenticate(mail(lines), session)).toMatchObject({
      dmarcVerdict: 'permerror',
      dmarcPolicy: null,
    });
  });

  it('is not hidden by authors with silent DNS', async () => {
    const clock = virtualClock();
    const resolver: AuthResolver = (name, type) =>
      name.includes('silent') ? new Promise(() => {}) : zone(name, type);
    const lines = ['From: a@silent.example, b@silent.test, c@silent.net, alice@example.com'];
    const result = authenticate(mail(lines), { ...stranger, resolver, clock });
    expect(await passingTime(clock, result, 50)).toMatchObject({ dmarcPolicy: 'reject' });
  });
});

describe('the bounds of authentication', () => {
  it('check ten signatures and skip the eleventh', async () => {
    const valid = await signed(message());
    const behind = (bogus: number) => {
      const fields = Array.from(
        { length: bogus },
        (_, at) =>
          `DKIM-Signature: v=1; a=rsa-sha256; d=d${at}.example; s=s; h=from; bh=x; b=x\r\n`,
      );
      return authenticate(Buffer.concat([Buffer.from(fields.join('')), valid]), stranger);
    };
    const results = async (bogus: number) =>
      (await behind(bogus)).authenticationResults.match(/dkim=\w+/g);
    expect((await results(9))?.filter((result) => result === 'dkim=pass')).toHaveLength(1);
    expect((await behind(9)).dkimVerdict).toBe('pass');
    expect(await results(10)).toHaveLength(10);
    expect((await behind(10)).dkimVerdict).not.toBe('pass');
  });

  it('refuse an author beyond 256 KB of header with permerror', async () => {
    const raw = Buffer.from(`${'X: y\r\n'.repeat(50_000)}From: alice@example.com\r\n\r\nx`);
    expect(await authenticate(raw, session)).toMatchObject({
      spfVerdict: 'pass',
      dmarcVerdict: 'permerror',
    });
  });

  it('keep a header folded 64,000 times cheap', async () => {
    const folds = `X-A: a${'\r\n a'.repeat(64_000)}`;
    const raw = mail(['From: alice@example.com', 'DKIM-Signature: v=1; d=example.com', folds]);
    const from = startWork();
    expect(await authenticate(raw, session)).toMatchObject({ dmarcVerdict: 'permerror' });
    expect(workedMs(from)).toBeLessThan(300);
  });

  it('refuse an author field of over 8 KB with permerror, at no cost', async () => {
    const raw = mail([`From: ${'a:'.repeat(100_000)} alice@example.com`]);
    const from = startWork();
    expect(await authenticate(raw, session)).toMatchObject({ dmarcVerdict: 'permerror' });
    expect(workedMs(from)).toBeLessThan(150);
  });

  const blanks = ' '.repeat(60_000);
  it.each<[string, string]>([
    ['in a tag', `DKIM-Signature: v=1; x=a${blanks}b\r\n`],
    ['in a line below that is no field', `DKIM-Signature: v=1; x=a\r\nb${blanks}c\r\n`],
    ['in a line above all fields', `a${blanks}b\r\n`],
  ])('pass a signature behind 60,000 blanks %s, at no cost', async (_, lines) => {
    const raw = Buffer.concat([Buffer.from(lines), await signed(message())]);
    const from = startWork();
    expect(await authenticate(raw, stranger)).toMatchObject({ dmarcVerdict: 'pass' });
    expect(workedMs(from)).toBeLessThan(300);
  });

  it('pass a signature before 60,000 blanks in the last field, at no cost', async () => {
    const whole = (await signed(message())).toString('latin1');
    const last = `\r\nDKIM-Signature: v=1; x=a${blanks}b\r\n\r\n`;
    const raw = Buffer.from(
      whole.replace('\r\n\r\n', () => last),
      'latin1',
    );
    const from = startWork();
    expect(await authenticate(raw, stranger)).toMatchObject({ dmarcVerdict: 'pass' });
    expect(workedMs(from)).toBeLessThan(300);
  });

  it('refuse an author behind 60,000 CR with permerror, at no cost', async () => {
    const raw = mail([`X: a${'\r'.repeat(60_000)}b`, 'From: alice@example.com']);
    const from = startWork();
    expect(await authenticate(raw, session)).toMatchObject({ dmarcVerdict: 'permerror' });
    expect(workedMs(from)).toBeLessThan(300);
  });

  it('include a header of 2,000 lines', async () => {
    const lines = Array<string>(1_998).fill(' a@b.example,').join('\r\n');
    const raw = mail(['From: alice@example.com', `To: a@b.example,\r\n${lines}`]);
    expect(await authenticate(raw, session)).toMatchObject({ dmarcVerdict: 'pass' });
  });

  it('end a flood of SPF look-ups and leave DKIM and DMARC alone', async () => {
    const asked: string[] = [];
    const resolver: AuthResolver = (name, type) => {
      asked.push(name);
      const isHost = /^h\d+\.flood\./.test(name);
      return isHost ? Promise.reject(dnsError('ENODATA')) : zone(name, type);
    };
    const flood = { ...stranger, mailFrom: 'x@flood.example', resolver };
    expect(await authenticate(await signed(message()), flood)).toMatchObject({
      spfVerdict: 'temperror',
      dkimVerdict: 'pass',
      dmarcVerdict: 'pass',
    });
    expect(asked.filter((name) => name.endsWith('flood.example'))).toHaveLength(130);
  });

  const large = 'twenty bytes a line\r\n'.repeat(1e5);
  /** Takes several turns of the event loop to hash. */
  const huge = large.repeat(10);

  /** Authenticates a mail while hashing takes `hashingMs`. */
  async function withHashingTime(from: AuthSession, hashingMs: number, raw: Buffer) {
    const clock = virtualClock();
    const result = authenticate(raw, { ...from, clock });
    await clock.advance(hashingMs);
    return result;
  }

  it('do not count the time of hashing a long body for its keys', async () => {
    const raw = await signed(message('alice@example.com', large));
    expect(await withHashingTime(stranger, 10_000, raw)).toMatchObject({ dkimVerdict: 'pass' });
  });

  it('keep the SPF verdict when the body is not hashed within 30 s', async () => {
    const raw = await signed(message('alice@example.com', huge));
    expect(await withHashingTime(session, 30_000, raw)).toMatchObject({
      dkimVerdict: 'temperror',
      spfVerdict: 'pass',
      dmarcVerdict: 'pass',
    });
    expect(await withHashingTime(stranger, 30_000, raw)).toMatchObject({
      spfVerdict: 'fail',
      dmarcVerdict: 'temperror',
      dmarcPolicy: 'reject',
    });
  });

  it('show a second author when the body is not hashed within 30 s', async () => {
    const form = 'v=1; a=rsa-sha256; c=relaxed/relaxed; d=d.example; s=s';
    const signature = `DKIM-Signature: ${form}; h=from; bh=x; b=x`;
    const raw = mail([signature, 'From: x@soft.example', 'From: alice@example.com'], huge);
    expect(await withHashingTime(stranger, 30_000, raw)).toMatchObject({
      dkimVerdict: 'temperror',
      dmarcVerdict: 'permerror',
      dmarcPolicy: 'reject',
      dmarcDomain: 'example.com',
    });
  });

  it('hash a mail of 20 MB without holding the event loop', async () => {
    const raw = await signed(message('alice@example.com', huge));
    let longestTurnMs = 0;
    let last = startWork();
    const ticks = setInterval(() => {
      longestTurnMs = Math.max(longestTurnMs, workedMs(last));
      last = startWork();
    }, 1);
    const result = await authenticate(raw, stranger);
    clearInterval(ticks);
    expect(result.dkimVerdict).toBe('pass');
    expect(longestTurnMs).toBeLessThan(250);
  });

  it('skip the body of an unsigned mail', async () => {
    const raw = message('alice@example.com', '\n'.repeat(1e6));
    const before = startWork();
    expect(await authenticate(raw, session)).toMatchObject({
      dkimVerdict: 'none',
      dmarcVerdict: 'pass',
    });
    expect(workedMs(before)).toBeLessThan(150);
  });

  it('hash the body of a mail that only has an ARC seal', async () => {
    const sealed = await withSeal(message());
    expect((await authenticate(sealed, session)).authenticationResults).toContain('; arc=pass');
    const changed = Buffer.concat([sealed, Buffer.from('P.S. pay here\r\n')]);
    expect((await authenticate(changed, session)).authenticationResults).toContain('; arc=fail');
  });

  it.each(['', '\r\n', 'From', 'DKIM-Signature: ;;;=\r\nFrom: <<<\r\n\r\n', 'From: a@\0\r\n\r\n'])(
    'give verdicts on the damaged mail %j',
    async (raw) => {
      const { dkimVerdict, dmarcVerdict } = await authenticate(Buffer.from(raw), session);
      expect(['none', 'neutral', 'permerror']).toContain(dkimVerdict);
      expect(['none', 'permerror']).toContain(dmarcVerdict);
    },
  );
});

describe('the ARC verdict', () => {
  it.each([
    ['none', 'without a chain', () => message()],
    ['pass', 'for a chain that verifies', () => withSeal(message())],
    [
      'fail',
      'after a change of the body',
      async () => Buffer.concat([await withSeal(message()), Buffer.from('P.S.\r\n')]),
    ],
    [
      'fail',
      'for a chain without its first set',
      async () => Buffer.from((await withSeal(message())).toString().replaceAll('i=1', 'i=2')),
    ],
  ])('is %s %s', async (verdict, _, build) => {
    const found = await authenticate(await build(), session);
    expect(found.arcVerdict).toBe(verdict);
    expect(found.authenticationResults).toContain(`; arc=${verdict}`);
  });
});

describe('the trusted sealer of a mail that fails DMARC', () => {
  const pass = 'mx.lists.example; spf=pass; dmarc=pass header.from=example.com';
  const trusting = { ...stranger, trustedSealers: new Set(['lists.example', 'relay.example']) };
  const sealerOf = async (raw: Buffer) => {
    const found = await authenticate(raw, trusting);
    expect(found).toMatchObject({ arcVerdict: 'pass', dmarcVerdict: 'fail' });
    return found.trustedSealer;
  };

  it('is the domain whose seal reports that DMARC passed', async () => {
    expect(await sealerOf(await withSeal(message(), pass, 'lists.example'))).toBe('lists.example');
  });

  it('is found behind a later seal of another trusted domain', async () => {
    const first = await withSeal(message(), pass, 'lists.example');
    const second = await withSeal(first, 'x; arc=pass; dmarc=fail', 'relay.example', 'pass');
    expect(await sealerOf(second)).toBe('lists.example');
  });

  it('is null when a stranger sealed last', async () => {
    const first = await withSeal(message(), pass, 'lists.example');
    expect(await sealerOf(await withSeal(first, pass, 'stranger.example', 'pass'))).toBeNull();
  });

  it('is null when only a stranger reports the pass', async () => {
    const first = await withSeal(message(), pass, 'stranger.example');
    const second = await withSeal(first, 'x; arc=pass; dmarc=fail', 'lists.example', 'pass');
    expect(await sealerOf(second)).toBeNull();
  });

  it.each([
    ['failed at its own check', 'mx.lists.example; dmarc=fail header.from=example.com'],
    ['reports no DMARC', 'mx.lists.example; spf=pass; dkim=pass header.d=example.com'],
    ['reports the pass of another author', 'x; dmarc=pass header.from=forger.example'],
  ])('is null when the mail %s', async (_, results) => {
    expect(await sealerOf(await withSeal(message(), results, 'lists.example'))).toBeNull();
  });

  it('is null after a change of the sealed body', async () => {
    const sealed = await withSeal(message(), pass, 'lists.example');
    const found = await authenticate(Buffer.concat([sealed, Buffer.from('pay\r\n')]), trusting);
    expect(found).toMatchObject({ arcVerdict: 'fail', trustedSealer: null });
  });

  it('is null for a mail that passes DMARC', async () => {
    const sealed = await withSeal(message(), pass, 'lists.example');
    const found = await authenticate(sealed, { ...trusting, ip: session.ip });
    expect(found).toMatchObject({ dmarcVerdict: 'pass', trustedSealer: null });
  });
});
