// Walks an SPF record as a receiver does (RFC 7208 4.6.4). Counts the look-ups of the mechanisms,
// and the look-ups without a result. Pure: it returns the questions that lack an answer.
import type { ProbeQuestion } from '../../../platform/net/dns-probe.ts';
import { spfRecordsIn } from '../merged-records.ts';
import type { Facts } from './facts.ts';

export const mostLookups = 10;
export const mostVoidLookups = 2;
/** Most terms of a record that are read. */
const mostTerms = 100;

export interface SpfWalk {
  lookups: number;
  voids: number;
  /** Unanswered questions; without their answers the counts are incomplete. */
  open: ProbeQuestion[];
}

/** Walks the record `text` of `name`. Stops once there are more than `mostLookups` look-ups. */
export function walkSpf(facts: Facts, name: string, text: string): SpfWalk {
  const walk: SpfWalk = { lookups: 0, voids: 0, open: [] };
  walkRecord(facts, walk, { name, text, path: new Set([name]) });
  return walk;
}

interface Place {
  name: string;
  text: string;
  /** Names of this record and of the records that led here. These names are not followed again. */
  path: ReadonlySet<string>;
}

function walkRecord(facts: Facts, walk: SpfWalk, place: Place): void {
  for (const term of place.text.split(/\s+/).slice(1, mostTerms)) {
    if (walk.lookups > mostLookups) return;
    const [, kind = '', target = place.name] =
      /^[+?~-]?(include|exists|redirect|ptr|mx|a)(?:[:=]([^/\s]+))?(?:\/\S*)?$/i.exec(term) ?? [];
    if (kind === '') continue;
    walk.lookups += 1;
    // A macro depends on the mail: its look-up is counted, but cannot be asked.
    if (target.includes('%')) continue;
    follow(facts, walk, kind.toLowerCase(), target.toLowerCase().replace(/\.$/, ''), place);
  }
}

function follow(facts: Facts, walk: SpfWalk, kind: string, target: string, place: Place): void {
  if (kind === 'ptr') return;
  const isRecord = kind === 'include' || kind === 'redirect';
  const question: ProbeQuestion = {
    type: isRecord ? 'TXT' : kind === 'mx' ? 'MX' : 'A',
    name: target,
  };
  const answer = facts.get(question);
  if (!answer) {
    walk.open.push(question);
    return;
  }
  const isVoid = answer.kind === 'no-data' || answer.kind === 'not-found';
  if (!isRecord) {
    if (isVoid) countVoid(facts, walk, kind, target);
    return;
  }
  if (isVoid) walk.voids += 1;
  const [text] = spfRecordsIn(answer.values);
  if (text === undefined || place.path.has(target)) return;
  walkRecord(facts, walk, { name: target, text, path: new Set([...place.path, target]) });
}

/** Counts a void look-up: for `a` and `exists` only if the name has no IPv6 address either. */
function countVoid(facts: Facts, walk: SpfWalk, kind: string, target: string): void {
  if (kind === 'mx') {
    walk.voids += 1;
    return;
  }
  const question: ProbeQuestion = { type: 'AAAA', name: target };
  const answer = facts.get(question);
  if (!answer) walk.open.push(question);
  else if (answer.kind === 'no-data' || answer.kind === 'not-found') walk.voids += 1;
}
