// Recognizes programs among requests for pixels and links: by the rules of scanners.yaml, then by
// isbot. Does not know the time of the delivery: engage.ts recognizes clicks that come too soon
// after it.
import type { IncomingHttpHeaders } from 'node:http';
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';
import { isInRanges } from '../../platform/net/network-address.ts';
import { loadScanners, type ScannerRule } from './load-scanners.ts';

export type EngagementKind = 'open' | 'click';

export interface Asked {
  method: string;
  headers: IncomingHttpHeaders;
  remoteAddress: string | null;
}

/** Most characters of a user agent that are matched and recorded. */
const longestUserAgent = 256;
const mostJudged = 1_000;

/** Returns the first 256 characters of the user agent. Null if the client sends none. */
export function userAgentOf({ headers }: Pick<Asked, 'headers'>): string | null {
  const text = headers['user-agent']?.trim().slice(0, longestUserAgent) ?? '';
  return text === '' ? null : text;
}

/** Rules by kind, shared by all apps of a process; null before the first use. */
let rules: Record<EngagementKind, ScannerRule[]> | null = null;
const judged = new LRUCache<string, { by: string | null }>({ max: mostJudged });

function rulesFor(kind: EngagementKind): ScannerRule[] {
  if (!rules) {
    const all = loadScanners();
    const of = (one: EngagementKind) => all.filter(({ kinds }) => kinds?.includes(one) ?? true);
    rules = { open: of('open'), click: of('click') };
  }
  return rules[kind];
}

/**
 * Returns the name of the rule or check that recognizes a program, such as `prefetch`. Null for a
 * person.
 */
export function automatedBy(kind: EngagementKind, asked: Asked): string | null {
  const { method, headers, remoteAddress } = asked;
  if (method === 'HEAD') return 'head';
  const { 'sec-purpose': secPurpose, purpose: oldPurpose, 'x-moz': mozPurpose } = headers;
  const purpose = secPurpose ?? oldPurpose ?? mozPurpose;
  if (typeof purpose === 'string' && /prefetch|preview/i.test(purpose)) return 'prefetch';
  const userAgent = userAgentOf(asked);
  if (userAgent === null) return 'no-user-agent';
  for (const rule of rulesFor(kind)) {
    if (rule.networks.length === 0) continue;
    const fits = rule.userAgent === null || rule.userAgent.test(userAgent);
    if (!fits || remoteAddress === null || !isInRanges(remoteAddress, rule.networks)) continue;
    return rule.automated ? rule.name : null;
  }
  return byUserAgent(kind, userAgent);
}

function byUserAgent(kind: EngagementKind, userAgent: string): string | null {
  const key = `${kind} ${userAgent}`;
  let known = judged.get(key);
  if (!known) {
    const rule = rulesFor(kind).find(
      ({ userAgent: pattern, networks }) => networks.length === 0 && pattern?.test(userAgent),
    );
    known = { by: rule ? (rule.automated ? rule.name : null) : isbot(userAgent) ? 'bot' : null };
    judged.set(key, known);
  }
  return known.by;
}
