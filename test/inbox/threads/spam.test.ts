// The spam folder for new mail, by the verdicts recorded at its arrival.
import { describe, expect, it } from 'vitest';
import { isSpam } from '../../../src/inbox/threads/placing/spam.ts';
import type { InboundEnvelope } from '../../../src/outbound/messages/contents/projection.ts';

const none = { allow: [], block: [] };
const verdicts = ['pass', 'fail', 'permerror', 'temperror', 'none', null] as const;
const policies = ['none', 'quarantine', 'reject', undefined] as const;

function envelope(verdict: (typeof verdicts)[number], policy: (typeof policies)[number]) {
  const found: InboundEnvelope = {
    ...{
      mailFrom: 'a@example.com',
      recipients: [],
      remoteAddress: '192.0.2.1',
      helo: 'x',
      tls: false,
    },
    ...{ dkimVerdict: null, spfVerdict: null, dmarcVerdict: verdict },
    ...(policy !== undefined && { dmarcPolicy: policy }),
  };
  return found;
}

describe('the spam folder for new mail', () => {
  it('is chosen when DMARC fails under a policy that asks for it', () => {
    const unwanted = verdicts.flatMap((verdict) =>
      policies.flatMap((policy) =>
        isSpam(envelope(verdict, policy), 'a@example.com', none) ? `${verdict} ${policy}` : [],
      ),
    );
    expect(unwanted).toEqual([
      'fail quarantine',
      'fail reject',
      'permerror quarantine',
      'permerror reject',
      'temperror reject',
    ]);
  });

  it('is not chosen when the seal of a trusted domain overrides DMARC', () => {
    const failed = envelope('fail', 'reject');
    expect(isSpam({ ...failed, trustedSealer: 'lists.example' }, 'a@example.com', none)).toBe(
      false,
    );
  });

  it.each([
    ['a@example.com', none, false],
    ['a@example.com', { allow: [], block: ['a@example.com'] }, true],
    ['A@Example.com', { allow: [], block: ['a@example.com'] }, true],
    ['a@example.com', { allow: [], block: ['example.com'] }, true],
    ['a@sub.example.com', { allow: [], block: ['example.com'] }, true],
    ['a@notexample.com', { allow: [], block: ['example.com'] }, false],
    ['a@example.com', { allow: ['example.com'], block: [] }, false],
    ['a@example.com', { allow: ['example.com'], block: ['a@example.com'] }, true],
    ['a@example.com', { allow: ['b@example.com'], block: [] }, true],
    ['unknown@invalid', { allow: ['example.com'], block: [] }, true],
  ])('is chosen for %s by %j: %s', (from, filters, expected) => {
    expect(isSpam(envelope('pass', 'none'), from, filters)).toBe(expected);
    expect(isSpam(null, from, filters)).toBe(expected);
  });
});
