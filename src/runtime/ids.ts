// Identifiers (specification 2.1): a prefix, an underscore and 24 characters of the alphabet
// 0-9a-hjkmnp-tv-z. Ten characters of milliseconds come first, then a counter of three, then 11
// random ones: keys that arrive in order cost half of what random ones do (docs/decisions.md, "Store").
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const timeCharacters = 10;
const counterCharacters = 3;
const countsPerMs = 32 ** counterCharacters;
const randomCharacters = 11;

export const idPrefixes = {
  organization: 'org',
  key: 'key',
  message: 'msg',
  content: 'cnt',
  blob: 'blob',
  recipient: 'rcp',
  delivery: 'dlv',
  event: 'evt',
  domain: 'dom',
  domainKey: 'dkim',
  sender: 'snd',
  block: 'blk',
  unsubscribeGroup: 'usg',
  mailbox: 'mbx',
  mailboxAddress: 'mba',
  mailboxNamespace: 'ns',
  thread: 'thread',
  threadNote: 'note',
  draft: 'draft',
  mailboxAction: 'act',
  contact: 'contact',
  contactIdentity: 'idn',
  contactGroup: 'grp',
  conversation: 'conv',
  template: 'tmpl',
  worker: 'wrk',
  inboundReport: 'rep',
  dmarcReport: 'dmr',
  hold: 'hold',
  auditEntry: 'aud',
  webhook: 'wep',
  webhookDelivery: 'whdel',
  webhookAttempt: 'wha',
  warmingPlan: 'warm',
  warmingBatch: 'wbat',
  warmingDecision: 'wdec',
  trackingHost: 'trk',
} as const;

export type IdKind = keyof typeof idPrefixes;

/** A function that makes ids from the given clock and randomness. */
export type NewId = (kind: IdKind) => string;

function encode(value: number, characters: number): string {
  let text = '';
  let rest = value;
  for (let i = 0; i < characters; i++) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/**
 * The id source of one process. Its ids only grow: within a millisecond a counter comes before the
 * random part, and a clock that is set back does not take them back, so that the order of ids is
 * the order in which they were made.
 */
export function idSource(clock: Clock, random: Random): NewId {
  let lastMs = -1;
  let made = 0;
  let timeText = '';
  return (kind) => {
    const now = clock.now();
    if (now > lastMs || made === countsPerMs) {
      lastMs = Math.max(now, lastMs + 1);
      made = 0;
      timeText = encode(lastMs, timeCharacters);
    }
    let tail = encode(made++, counterCharacters);
    for (const byte of random.bytes(randomCharacters)) tail += alphabet.charAt(byte & 31);
    return `${idPrefixes[kind]}_${timeText}${tail}`;
  };
}

/** No id that was made at that time or later comes before it; `ms` since 1970. */
export function firstIdAt(kind: IdKind, ms: number): string {
  return `${idPrefixes[kind]}_${encode(Math.max(0, ms), timeCharacters)}`;
}

/** When an id was made, in ms since 1970; as far as the clock of its process was right. */
export function timeOfId(id: string): number {
  const text = id.slice(id.indexOf('_') + 1).slice(0, timeCharacters);
  return [...text].reduce((time, character) => time * 32 + alphabet.indexOf(character), 0);
}

/** The pattern an id of this kind must match (specification 2.1). */
export function idPattern(kind: IdKind): RegExp {
  return new RegExp(`^${idPrefixes[kind]}_[0-9a-hjkmnp-tv-z]{16,24}$`);
}

/** What an id of any kind looks like, for what is only looked up by it. */
export const anyIdPattern = /^[a-z]{1,20}_[0-9a-z]{1,40}$/;
