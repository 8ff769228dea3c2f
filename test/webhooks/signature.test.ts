// Signatures as the published verifiers take them: the packages standardwebhooks and svix.
import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  secretFrom,
  signatureHeaders,
  signatureProblem,
} from '../../src/webhooks/posting/signature.ts';

const at = Date.UTC(2026, 0, 5, 12);
const id = 'evt_06dq2k0qz8h3v5m1r9t4w7xy';
const old = secretFrom('old');
const fresh = secretFrom('new');

const bodies: readonly (readonly [string, unknown])[] = [
  ['plain', { a: 1 }],
  ['unicode', { a: 'Grüße 👋🏽 שלום \u2028' }],
  ['empty', {}],
  ['256 KB', { a: 'x'.repeat(256 * 1024 - 8) }],
  ['escapes', { a: '\u0000\b\\"/\u007f', b: '</script>' }],
];

function verifies(secret: string, headers: Record<string, string>, body: string): boolean[] {
  const svix = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.replace('webhook-', 'svix-'), value]),
  );
  return [
    () => new Webhook(secret).verify(body, headers),
    () => new SvixWebhook(secret).verify(body, headers),
    () => new SvixWebhook(secret).verify(body, svix),
  ]
    .map((verify) => {
      try {
        verify();
        return true;
      } catch {
        return false;
      }
    })
    .concat(signatureProblem(secret, headers, body, at) === null);
}

const all = [true, true, true, true];
const none = [false, false, false, false];

describe('a signature', () => {
  beforeEach(() => vi.useFakeTimers({ now: at, toFake: ['Date'] }));
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each(bodies)('is verified before, during and after a rotation: %s', (_name, value) => {
    const body = JSON.stringify(value);
    const before = signatureHeaders([old], id, at, body);
    const during = signatureHeaders([fresh, old], id, at, body);
    const after = signatureHeaders([fresh], id, at, body);
    expect(verifies(old, before, body)).toEqual(all);
    expect(verifies(fresh, before, body)).toEqual(none);
    expect(verifies(old, during, body)).toEqual(all);
    expect(verifies(fresh, during, body)).toEqual(all);
    expect(verifies(old, after, body)).toEqual(none);
    expect(verifies(fresh, after, body)).toEqual(all);
  });

  it('is not verified with another byte, id, time or secret', () => {
    const body = '{"a":1}';
    const headers = signatureHeaders([fresh], id, at, body);
    expect(verifies(fresh, headers, '{"a":2}')).toEqual(none);
    expect(verifies(fresh, headers, `${body} `)).toEqual(none);
    expect(verifies(fresh, { ...headers, 'webhook-id': `${id}0` }, body)).toEqual(none);
    const later = { ...headers, 'webhook-timestamp': String(at / 1000 + 1) };
    expect(verifies(fresh, later, body)).toEqual(none);
    expect(verifies(old, headers, body)).toEqual(none);
    const stale = signatureHeaders([fresh], id, at - 5 * 60_000 - 1_000, body);
    expect(verifies(fresh, stale, body)).toEqual(none);
    expect(signatureProblem(fresh, stale, body)).toBe(null);
  });

  it('is valid for five minutes before and after', () => {
    const body = '{"a":1}';
    const secondsOff = (seconds: number) =>
      verifies(fresh, signatureHeaders([fresh], id, at + seconds * 1_000, body), body);
    for (const seconds of [-300, 300]) expect(secondsOff(seconds), `${seconds} s`).toEqual(all);
    for (const seconds of [-301, 301]) expect(secondsOff(seconds), `${seconds} s`).toEqual(none);
  });
});
