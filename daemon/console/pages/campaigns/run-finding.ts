// The finding on a run: where most of its bounces are, and why.

import { campaignRunRoutes } from '../../../../src/campaigns/setup/routes.ts';
import type { RunSummary } from '../../../../src/campaigns/setup/run-schema.ts';
import { messageRoutes } from '../../../../src/outbound/messages/routes.ts';
import type { Asked } from '../../page.ts';
import { counted } from '../../parts/times.ts';
import { causeLabel, domainOf } from '../causes.ts';

export interface Bounce {
  domain: string;
  code: string;
}

export interface Finding {
  sentence: string;
  more: string;
}

/** Most bounces that the finding groups by cause and domain. */
const mostSeen = 15;
/** Fewest bounces for a finding. */
const fewest = 3;
const mostPart = 0.6;

/** Returns the most frequent value with its number. */
function mostOf(values: readonly string[]): readonly [value: string, count: number] {
  const counts = [...Map.groupBy(values, (value) => value)].map(
    ([value, { length }]) => [value, length] as const,
  );
  return counts.toSorted(([, a], [, b]) => b - a)[0] ?? ['', 0];
}

/** Returns the share of bounces in words: "All 16 bounces are" or "12 of the 16 bounces are". */
function partOf(part: number, seen: number, total: number): string {
  if (seen < total) return `${counted(part)} of the first ${counted(seen)} bounces are`;
  return part === seen
    ? `All ${counted(seen)} bounces are`
    : `${counted(part)} of the ${counted(seen)} bounces are`;
}

/**
 * Returns the finding on the bounces of a run. `total` is the number of all bounces, of which the
 * given ones are the first. Null for fewer than 3 bounces, or without a frequent domain or cause.
 */
export function findingOn(bounces: readonly Bounce[], total: number): Finding | null {
  const seen = bounces.length;
  if (seen < fewest) return null;
  const [domain, atDomain] = mostOf(bounces.map((bounce) => bounce.domain));
  const [code, ofCode] = mostOf(bounces.map((bounce) => bounce.code));
  const isDead = code === 'invalid-recipient' || code === 'invalid-domain';
  const blocked = isDead ? ' They are blocked now: nothing more is sent to them.' : '';
  if (atDomain / seen >= mostPart) {
    const [own, same] = mostOf(
      bounces.filter((bounce) => bounce.domain === domain).map((bounce) => bounce.code),
    );
    const why =
      same === atDomain
        ? `The cause of each: ${causeLabel(own)}.`
        : `Most often: ${causeLabel(own)}.`;
    return { sentence: `${partOf(atDomain, seen, total)} at ${domain}.`, more: `${why}${blocked}` };
  }
  if (ofCode / seen >= mostPart) {
    const sentence = `${partOf(ofCode, seen, total)} of one kind: ${causeLabel(code)}.`;
    return { sentence, more: `They are at many domains.${blocked}` };
  }
  return null;
}

/** Asks for the first 15 bounces of a run; empty below 3, or without the right to read messages. */
export async function bouncesOf(
  { ask, params, may }: Pick<Asked, 'ask' | 'params' | 'may'>,
  { stats }: Pick<RunSummary, 'stats'>,
): Promise<Bounce[]> {
  if (stats.bounced < fewest || !may('messages:read')) return [];
  const query = { status: 'bounced', limit: mostSeen };
  const { items } = await ask(campaignRunRoutes.recipients, { params, query });
  const ids = items.flatMap(({ messageId }) => messageId ?? []);
  const messages = await Promise.all(ids.map((id) => ask(messageRoutes.get, { params: { id } })));
  return messages.flatMap(({ recipients, deliveries }) => {
    const [first] = recipients;
    const code = deliveries[0]?.errorCode ?? 'unknown';
    return first ? [{ domain: domainOf(first.email), code }] : [];
  });
}
