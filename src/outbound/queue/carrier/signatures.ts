// The DKIM signatures for a route: a relay may accept only some of them (`delivery.relay.dkim`).
// Amazon SES refuses mail with a second signature.
import type { ComposeRequest } from '../../../mail/mime/input.ts';
import type { Outcome } from '../../../mail/smtp/outcome.ts';
import type { Route } from '../../../mail/smtp/route.ts';
import type { Carrier, Envelope } from './carrier.ts';
import type { Signing } from './request.ts';

/** Returns a key for the signatures: routes with equal keys get equal signatures. */
export function signaturesKey(route: Route): string {
  const wanted = route.kind === 'relay' ? route.dkim : undefined;
  return wanted === undefined ? 'all' : [...wanted].sort().join();
}

/** Returns the keys that sign mail for a route, with the time of the signatures. */
export function signingFor(route: Route, { keys, timestampSeconds }: Signing): Signing {
  const wanted = route.kind === 'relay' ? route.dkim : undefined;
  if (wanted === undefined) return { keys, timestampSeconds };
  const algorithms: readonly string[] = wanted.map((keyType) => `${keyType}-sha256`);
  return { keys: keys.filter(({ algorithm }) => algorithms.includes(algorithm)), timestampSeconds };
}

/**
 * Carries a message to all envelopes. Composes and signs it once for each different set of
 * signatures. Returns the outcomes in the order of the envelopes.
 */
export function carryTogether(
  carrier: Carrier,
  request: ComposeRequest,
  envelopes: readonly Envelope[],
): Promise<Outcome[]>[] {
  const outcomes = new Map<Envelope, Promise<Outcome[]> | undefined>();
  for (const alike of Map.groupBy(envelopes, ({ route }) => signaturesKey(route)).values()) {
    const [first] = alike;
    if (!first) continue;
    const signed = { ...request, ...signingFor(first.route, request) };
    const carried = carrier.carry({ request: signed, envelopes: alike });
    for (const [index, envelope] of alike.entries()) outcomes.set(envelope, carried[index]);
  }
  return envelopes.map((envelope) => outcomes.get(envelope) ?? Promise.resolve([]));
}
