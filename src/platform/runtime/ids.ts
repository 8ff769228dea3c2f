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
 * Prefixes of ids by kind. Further kinds are nouns, which declare a prefix (src/core/api/noun.ts).
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
 * Organization that owns mail of the service (src/access/organizations/service-organization.ts).
 * Equals no generated id, because it contains the time 0 (1970).
 */
export const serviceOrganizationId = 'org_000000000000000000000000';

/** A kind of ids that is declared elsewhere: ids begin with `prefix`. */
export interface IdSpace {
  readonly prefix: string;
}

export type IdKind = keyof typeof idPrefixes | IdSpace;

/** Returns the prefix of ids of this kind. */
export function prefixOf(kind: IdKind): string {
  return typeof kind === 'string' ? idPrefixes[kind] : kind.prefix;
}

/** Function that makes ids: texts that sort by the time of creation. */
export interface NewId {
  /** Makes an id of the given kind. */
  (kind: IdKind): string;
  /** Makes later ids sort after all ids made before `ms` (since 1970). */
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

/**
 * Most ms by which ids may be ahead of the clock. If the clock was set back by more, ids go back
 * too.
 */
export const mostAheadMs = 60_000;

/**
 * Creates the id source of a process. Each id sorts after the previous id: a counter orders ids
 * within a millisecond, and ids do not go back if the clock is set back by up to a minute.
 */
export function idSource(clock: Clock, random: Random): NewId {
  let lastMs = -1;
  /**
   * Latest time that the clock showed. Ids are beyond this time only after the counter was full.
   */
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

/** Returns the time at which an id was made, in ms since 1970, by the clock of the process then. */
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
