// Reads from an exported row of a mail service whether the person may get mail. Known columns of
// opt-outs become a block. A column that only speaks of consent has no known meaning, so the caller
// must state it: a guess would make recipients of people after their opt-out.

import { columnKey } from '../../platform/csv/read-table.ts';
import { ValidationError } from '../../platform/errors.ts';
import { type BlockReason, reasonsByWeight } from '../blocks/schema.ts';
import type { Consent } from './services.ts';
import { optOutWords, reasonWords } from './words.ts';

/**
 * Rule to read the cells of a column. `word`: the cell is a status. `out`: "yes" blocks the
 * address. `in`: "no" blocks the address. `any`: any content blocks the address, such as a time.
 */
interface ConsentRule {
  says: 'word' | 'out' | 'in' | 'any';
  reason: BlockReason;
}

/** Rules of the consent columns, by the names of uses in the option `map`. */
const rules = {
  status: { says: 'word', reason: 'manual' },
  unsubscribed: { says: 'out', reason: 'unsubscribe' },
  subscribed: { says: 'in', reason: 'unsubscribe' },
  bounced: { says: 'out', reason: 'bounce' },
  complained: { says: 'out', reason: 'complaint' },
  blocked: { says: 'out', reason: 'manual' },
  unsubscribedAt: { says: 'any', reason: 'unsubscribe' },
  bouncedAt: { says: 'any', reason: 'bounce' },
  complainedAt: { says: 'any', reason: 'complaint' },
  blockedAt: { says: 'any', reason: 'manual' },
} as const satisfies Record<Consent, ConsentRule>;

export function isConsent(use: string): use is Consent {
  return Object.hasOwn(rules, use);
}

/** Parts of column names that speak of consent, in the languages of frequent exports. */
const stems = [
  ...['unsub', 'subscri', 'optin', 'optout', 'optedin', 'optedout', 'consent', 'suppress'],
  ...['blacklist', 'blocklist', 'blocked', 'bounce', 'complain', 'spam', 'donot', 'dontemail'],
  ...['gdpr', 'permission', 'newsletter', 'marketing', 'mailable', 'contactable', 'topicpref'],
  ...['abgemeld', 'abmeld', 'abbestell', 'abonn', 'einwillig', 'widerruf', 'widerspr', 'sperr'],
  ...['désinscri', 'nepascontacter', 'nepasenvoyer', 'rgpd', 'consenso', 'disiscri', 'cancellato'],
  ...['suscri', 'dadodeb', 'fechadeb', 'nocontactar', 'descadastr', 'inscrito', 'lgpd'],
  ...['uitgeschrev', 'afgemeld', 'toestemming', 'avmeld', 'avprenumer', 'samtyck', 'samtykke'],
  ...['wypisan', 'zgoda', 'abonelik', 'отписа', 'подписа', 'согласи', 'рассылк'],
  ...['配信停止', '配信拒否', '購読', '退会', '退订', '订阅', '수신거부', '수신동의'],
].map(columnKey);
const speaking = new RegExp(stems.join('|'), 'u');
const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(' '));
/** Words for channels other than mail. */
const otherChannels = wordSet(
  'sms whatsapp phone phones telephone call calls fax push mobile viber postal',
);
/** Words for mail, or for every channel. */
const mailWords = wordSet(
  'email emails mail mails mailing mailings newsletter newsletters all any',
);
/** Last words of column names that tell only time, place or source of a consent. */
const circumstances = wordSet('time timestamp date at ip source method url');
const ofOptOut = /unsub|out|withdr|revok|suppress|bounce|complain/;
/** Column names that contain a word of consent but mean purchases, or counts of mail. */
const otherThing =
  /subscription(?:id|plan|tier|price|amount|currency|interval|product|renew|start|end)|^marketingemails/;

/** Splits a name at separators and capitals: "automatically" does not contain "call" then. */
function wordsIn(name: string): string[] {
  return name
    .replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .toLowerCase()
    .replaceAll(/direct[\s_-]*mail/g, 'postal')
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '');
}

function isCircumstance(words: readonly string[], key: string): boolean {
  if (ofOptOut.test(key) || !circumstances.has(words.at(-1) ?? '')) return false;
  return words.at(-2) !== 'one';
}

/** Tells whether a name speaks of consent to mail. */
export function speaksOfConsent(name: string): boolean {
  const key = columnKey(name);
  if (!speaking.test(key) || otherThing.test(key)) return false;
  const words = wordsIn(name);
  if (isCircumstance(words, key)) return false;
  return (
    !words.some((word) => otherChannels.has(word)) || words.some((word) => mailWords.has(word))
  );
}

type Standing = BlockReason | 'archived' | 'active';

const statuses = new Map<string, Standing>([
  ...reasonWords,
  ...['active', 'enabled', 'subscribed', 'confirmed', 'optin', 'optedin'].map(
    (word) => [word, 'active'] as const,
  ),
  ['archived', 'archived'],
]);

const yes = /^(?:true|yes|y|1|t|x|on|ja|oui|s[iíì]|sim|wahr|waar|vrai|vero|checked)$/i;
const no = /^(?:false|no|n|0|f|off|nein|non|nej|nee|n[aã]o|falsch|faux|falso|onwaar|unchecked)$/i;
const nothing = /^(?:|none|null|nil|n\/?a|-|never|0000-00-00.*)$/i;
const date = /^(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{10}(?:\d{3})?$)/;
const longestWord = 40;
const likeOptOut = /unsub|out|list|bounce|complain|suppress|spam|not|withdrawn/i;

/** Removes brackets, quotes and space around a word. */
function withoutQuotes(text: string): string {
  return text.replace(/^[\s["']+/, '').replace(/(?<![\s\]"'])[\s\]"']+$/, '');
}

/** Reads a cell with a status word, or with a list of words such as `["HARD_BOUNCE"]`. */
function standingsOf(column: string, text: string): Standing[] {
  const parts = text.split(/[,;|]/).map(withoutQuotes);
  return parts.flatMap((part) => {
    if (nothing.test(part)) return [];
    const standing = statuses.get(columnKey(part));
    if (standing) return [standing];
    throw ValidationError.of(column, `is not a known status: ${part.slice(0, 60)}`);
  });
}

/**
 * Reads a cell by the rule of the column. @throws ValidationError naming the column of an unclear
 * value
 */
function standingsIn(column: string, { says, reason }: ConsentRule, text: string): Standing[] {
  if (says === 'word') return standingsOf(column, text);
  const isNothing = nothing.test(text);
  if (says === 'any') return isNothing || no.test(text) ? [] : [reason];
  if (yes.test(text) || date.test(text)) return says === 'out' ? [reason] : [];
  if (no.test(text)) return says === 'out' ? [] : [reason];
  const standing = statuses.get(columnKey(text));
  if (standing !== undefined) return [standing];
  // An empty cell is accepted only in a column of opt-outs, where it means no opt-out.
  if (says === 'out' && isNothing) return [];
  const problem = isNothing
    ? 'is empty: say yes or no'
    : `is neither yes nor no: ${text.slice(0, 60)}`;
  throw ValidationError.of(column, problem);
}

/** Result of all columns of consent of a row. */
export interface ConsentFound {
  /** Reason to block the address, or null. */
  reason: BlockReason | null;
  /** Set if the contact is archived. A file never brings an archived contact back. */
  isArchived: true | undefined;
}

/** A cell of a consent column: the column name, the use and the text. */
export type ConsentCell = readonly [column: string, consent: Consent, text: string];

/**
 * Combines the consent cells of a row. Of several reasons, the first of `reasonsByWeight` counts.
 * @throws ValidationError naming the column of an unclear value
 */
export function standingOf(cells: readonly ConsentCell[]): ConsentFound {
  if (cells.length === 0) return { reason: null, isArchived: undefined };
  const all = cells.flatMap(([column, consent, text]) => standingsIn(column, rules[consent], text));
  return {
    reason: reasonsByWeight.find((reason) => all.includes(reason)) ?? null,
    isArchived: all.includes('archived') ? true : undefined,
  };
}

/** Tells whether a text can only mean an opt-out, whatever the column is. */
export function isOptOut(text: string): boolean {
  if (text.length > longestWord || !likeOptOut.test(text)) return false;
  return optOutWords.has(columnKey(text));
}
