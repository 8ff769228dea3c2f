// Identifiers (specification 2.1): a prefix, an underscore and 24 characters of the alphabet
// 0-9a-hjkmnp-tv-z. Ten characters give the milliseconds, three a counter, and 11 are random.
// Ascending keys cost half as much to insert as random keys (docs/making/decisions.md, "Store").
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const timeCharacters = 10;
const counterCharacters = 3;
const countsPerMs = 32 ** counterCharacters;
const randomCharacters = 11;

/**
 * Prefixes of kinds without a noun (src/core/api/noun.ts), and of nouns whose ids lower rooms need.
 */
export const idPrefixes = {
  organization: 'org',
  key: 'key',
  person: 'per',
  passkey: 'pky',
  message: 'msg',
  content: 'cnt',
  blob: 'blob',
  recipient: 'rcp',
  delivery: 'dlv',
  event: 'evt',
  domain: 'dom',
  domainKey: 'dkim',
  block: 'blk',
  unsubscribeGroup: 'usg',
  mailbox: 'mbx',
  mailboxAddress: 'mba',
  mailboxNamespace: 'ns',
  thread: 'thread',
  mailboxAction: 'act',
  contactIdentity: 'idn',
  template: 'tmpl',
  templateVersion: 'tver',
  worker: 'wrk',
  inboundReport: 'rep',
  dmarcReport: 'dmr',
  hold: 'hold',
  auditEntry: 'aud',
  webhookDelivery: 'whdel',
  webhookAttempt: 'wha',
  warmingPlan: 'warm',
  warmingBatch: 'wbat',
  warmingDecision: 'wdec',
  trackingHost: 'trk',
} as const;

/**
 * Organization that owns mail of the service (src/access/organizations/service-organization.ts). No
 * id is generated in the year 1970, of which this is the first.
 */
export const serviceOrganizationId = 'org_000000000000000000000000';

/** Kind of ids, which begin with `prefix`. */
export interface IdSpace {
  readonly prefix: string;
}

export type IdKind = keyof typeof idPrefixes | IdSpace;

/** Returns the prefix of ids of this kind. */
export function prefixOf(kind: IdKind): string {
  return typeof kind === 'string' ? idPrefixes[kind] : kind.prefix;
}

/** Makes ids: text that sorts by the time of creation. */
export interface NewId {
  /** Makes an id of the given kind. */
  (kind: IdKind): string;
  /** Makes all later ids sort after the ids of this time, ms since 1970. */
  follow(ms: number): void;
}

function encode(value: number, characters: number): string {
  let text = '';
  let rest = value;
  for (let i = 0; i < characters; i++) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Largest time that ids may be ahead of the clock. A clock set back by more moves ids back too. */
export const mostAheadMs = 60_000;

/**
 * Creates the id source of a process. Ids grow: a counter orders them within a millisecond, and a
 * clock that is set back by up to a minute does not affect them.
 */
export function idSource(clock: Clock, random: Random): NewId {
  let lastMs = -1;
  /** Latest time of the clock. Ids beyond it come from a full counter. */
  let seenMs = -1;
  let made = 0;
  let timeText = '';
  const begin = (ms: number) => {
    lastMs = ms;
    made = 0;
    timeText = encode(ms, timeCharacters);
  };
  const newId = (kind: IdKind) => {
    const now = clock.now();
    if (now > lastMs || seenMs > now + mostAheadMs) {
      begin(now);
      seenMs = now;
    } else if (made === countsPerMs) begin(lastMs + 1);
    let tail = encode(made++, counterCharacters);
    for (const byte of random.bytes(randomCharacters)) tail += alphabet.charAt(byte & 31);
    return `${prefixOf(kind)}_${timeText}${tail}`;
  };
  const follow = (ms: number) => {
    if (ms <= lastMs) return;
    begin(ms);
    seenMs = ms;
  };
  return Object.assign(newId, { follow });
}

/** Returns a lower bound for all ids made at `ms` since 1970 or later. */
export function firstIdAt(kind: IdKind, ms: number): string {
  return `${prefixOf(kind)}_${encode(Math.max(0, ms), timeCharacters)}`;
}

/** Returns the time of an id in ms since 1970, as accurate as the clock of the process. */
export function timeOfId(id: string): number {
  const text = id.slice(id.indexOf('_') + 1).slice(0, timeCharacters);
  return [...text].reduce((time, character) => time * 32 + alphabet.indexOf(character), 0);
}

/** Returns the pattern for ids of this kind (specification 2.1). */
export function idPattern(kind: IdKind): RegExp {
  return new RegExp(`^${prefixOf(kind)}_[0-9a-hjkmnp-tv-z]{16,24}$`);
}

/** Pattern for ids of any kind, for look-ups by id. */
export const anyIdPattern = /^[a-z]{1,20}_[0-9a-z]{1,40}$/;
