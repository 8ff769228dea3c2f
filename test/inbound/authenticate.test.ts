// SPF, DKIM and DMARC verdicts of received mails against a zone held in memory.
import { generateKeyPairSync } from 'node:crypto';
import { dkimSign } from 'mailauth';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import {
  type AuthResolver,
  type AuthSession,
  authenticate,
} from '../../src/inbound/authenticate.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { startWork, workedMs } from '../support/work-time.ts';
import { mail } from './fixture.ts';

function dnsError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

const keys = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ed25519: generateKeyPairSync('ed25519'),
};
const rsaKey = keys.rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
const edKey = keys.ed25519.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);

const records: Record<string, string[][]> = {
  'rsa._domainkey.example.com': [['v=DKIM1; k=rsa; p=', rsaKey]],
  'ed._domainkey.example.com': [[`v=DKIM1; k=ed25519; p=${edKey.toString('base64')}`]],
  'example.com': [['v=spf1 ip4:192.0.2.1 -all']],
  '_dmarc.example.com': [['v=DMARC1; p=reject']],
  'soft.example': [['v=spf1 ~all']],
  '_dmarc.soft.example': [['v=DMARC1; p=quarantine']],
  'broken.example': [['v=spf1 ip4:not-an-address -all']],
  'loop.example': [['v=spf1 include:loop.example -all']],
};

const zone: AuthResolver = (name, type) => {
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

describe('a mail passes', () => {
  test.each(['rsa', 'ed25519'] as const)('with an aligned %s signature', async (algorithm) => {
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
  });

  test('with an aligned SPF pass and no signature', async () => {
    expect(await authenticate(message(), session)).toMatchObject({
      dkimVerdict: 'none',
      spfVerdict: 'pass',
      dmarcVerdict: 'pass',
    });
  });
});

describe('a mail fails', () => {
  test('when its body was changed', async () => {
    const raw = Buffer.concat([await signed(message()), Buffer.from('P.S. pay here\r\n')]);
    expect(await authenticate(raw, stranger)).toMatchObject({
      dkimVerdict: 'fail',
      dmarcVerdict: 'fail',
      dmarcPolicy: 'reject',
    });
  });

  test('when a signed header was changed', async () => {
    const raw = await signed(message());
    const changed = Buffer.from(raw.toString().replace('Subject: Plan', 'Subject: Scam'));
    expect((await authenticate(changed, stranger)).dkimVerdict).toBe('fail');
  });

  test('when what passes is another domain than the author', async () => {
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

describe('SPF', () => {
  test.each([
    ['x@soft.example', 'softfail'],
    ['x@nothing.example', 'none'],
    ['x@broken.example', 'permerror'],
    ['x@loop.example', 'permerror'],
  ])('of %s is %s', async (mailFrom, verdict) => {
    expect((await authenticate(message(), { ...session, mailFrom })).spfVerdict).toBe(verdict);
  });

  test('of the null return path is that of the HELO name', async () => {
    const helo = { ...session, mailFrom: '', helo: 'soft.example' };
    expect((await authenticate(message(), helo)).spfVerdict).toBe('softfail');
  });
});

describe('DNS trouble is temperror', () => {
  test('for the check it concerns', async () => {
    const resolver = troubled('rsa._domainkey.example.com');
    expect(await authenticate(await signed(message()), { ...session, resolver })).toMatchObject({
      dkimVerdict: 'temperror',
      spfVerdict: 'pass',
      dmarcVerdict: 'pass',
    });
  });

  test('for DMARC too where it left an aligned check open', async () => {
    const resolver = troubled('rsa._domainkey.example.com');
    const raw = await signed(message());
    expect((await authenticate(raw, { ...stranger, resolver })).dmarcVerdict).toBe('temperror');
    const spf = { ...stranger, resolver: troubled('example.com') };
    expect((await authenticate(message(), spf)).dmarcVerdict).toBe('temperror');
  });

  test('but a forger cannot buy it with a broken domain of his own', async () => {
    const resolver = troubled('forger.example');
    const forged = { ...stranger, mailFrom: 'x@forger.example', resolver };
    expect(await authenticate(message(), forged)).toMatchObject({
      spfVerdict: 'temperror',
      dmarcVerdict: 'fail',
    });
  });

  test('for all when the resolver does not answer in time', async () => {
    const clock = virtualClock();
    const resolver: AuthResolver = () => new Promise(() => {});
    const result = authenticate(await signed(message()), { ...session, resolver, clock });
    await clock.advance(10_000);
    expect(await result).toEqual({
      dkimVerdict: 'temperror',
      spfVerdict: 'temperror',
      dmarcVerdict: 'temperror',
      dmarcPolicy: null,
      dmarcDomain: null,
      authenticationResults: 'mx.receiver.example; dkim=temperror; spf=temperror; dmarc=temperror',
    });
    expect(clock.nextTimerAt()).toBeUndefined();
  });
});

describe('without', () => {
  test('any record all is none', async () => {
    const raw = message('x@nothing.example');
    expect(await authenticate(raw, { ...session, mailFrom: 'x@nothing.example' })).toMatchObject({
      dkimVerdict: 'none',
      spfVerdict: 'none',
      dmarcVerdict: 'none',
      dmarcPolicy: null,
    });
  });

  test.each([[['Subject: nobody']], [['From: a@example.com', 'From: b@example.net']]])(
    'one author DMARC is permerror: %j',
    async (lines) => {
      expect((await authenticate(mail(lines), session)).dmarcVerdict).toBe('permerror');
    },
  );
});

describe('bounds', () => {
  test('ten signatures are looked at, the eleventh is not', async () => {
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

  test('an author beyond 256 KB of header is none to trust', async () => {
    const raw = Buffer.from(`${'X: y\r\n'.repeat(50_000)}From: alice@example.com\r\n\r\nx`);
    expect(await authenticate(raw, session)).toMatchObject({
      spfVerdict: 'pass',
      dmarcVerdict: 'permerror',
    });
  });

  test('a mail of 20 MB is hashed without holding the event loop', async () => {
    const raw = await signed(message('alice@example.com', 'twenty bytes a line\r\n'.repeat(1e6)));
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

  test.each([
    '',
    '\r\n',
    'From',
    'DKIM-Signature: ;;;=\r\nFrom: <<<\r\n\r\n',
    'From: a@\0\r\n\r\n',
  ])('the damaged mail %j has verdicts', async (raw) => {
    const { dkimVerdict, dmarcVerdict } = await authenticate(Buffer.from(raw), session);
    expect(['none', 'neutral', 'permerror']).toContain(dkimVerdict);
    expect(['none', 'permerror']).toContain(dmarcVerdict);
  });
});
