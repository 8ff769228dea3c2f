// New DKIM keys for a domain: made here, or imported.
//
//   DKIM key   event                    to        also
//   (none)     add, rotate, import      waiting   the record is listed; the key signs nothing yet
//   waiting    found in DNS             in use    older keys of the same algorithm are retired
//   waiting    rotate, import           retired   import: only keys of the same algorithm
//   in use     missing from DNS         waiting   unless DNS only failed to answer
//   in use     successor in use         retired   the record is listed for 7 more days; the key
//                                                 signs only copies of mail that it has signed
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { record } from '../../history/events/record.ts';
import {
  type DkimAlgorithm,
  readDkimPrivateKey,
  selectorOf,
} from '../../mail/mime/dkim/dkim-key.ts';
import { ConflictError, ValidationError } from '../../platform/errors.ts';
import {
  domainChange,
  getDomainRows,
  keyRows,
  type NamedPair,
  type StoredDomain,
  storeDomainKeys,
  toDomain,
} from './domains.ts';
import { makeKeys } from './key-making.ts';
import * as queries from './queries.ts';
import type { Domain, ImportDkim, RotateDkim } from './schema.ts';
import { forgetSigningKeys } from './signing-keys.ts';

const longestName = 253;

/**
 * Creates new DKIM keys of the same algorithms. The old keys sign until DNS has the new keys. On a
 * local domain the change takes effect at once. `selector` names the key; with keys of both
 * algorithms, `rsa` or `ed` is appended to it.
 * @throws ResourceNotFoundError; ConflictError (selector in use); ValidationError (name too long).
 */
export async function rotateDkim(
  app: App,
  caller: Caller,
  id: string,
  { selector }: RotateDkim = {},
): Promise<Domain> {
  const before = await getDomainRows(app, app.store.db, caller.organizationId, id);
  const active = before.keys.filter((key) => key.is_active === 1);
  // Makes keys before the transaction, because an RSA key takes longer than a transaction may.
  const algorithms = [...new Set(active.map((key) => key.algorithm))];
  const pairs = await makeKeys(app, caller.organizationId, algorithms);
  const nameOf = (generation: number, algorithm: DkimAlgorithm) => {
    if (selector === undefined) return selectorOf(generation, algorithm);
    return algorithms.length === 1 ? selector : selectorOf(selector, algorithm);
  };
  return addKeys(app, caller, id, 'domain.dkim-rotated', (generation) =>
    pairs.map(([algorithm, pair]) => {
      return { algorithm, selector: nameOf(generation, algorithm), ...pair };
    }),
  );
}

/**
 * Adds a key that was made elsewhere, in PEM. It signs once DNS has the record.
 * @throws ResourceNotFoundError; ConflictError (selector in use); ValidationError for a key that
 * cannot sign.
 */
export async function importDkim(
  app: App,
  caller: Caller,
  id: string,
  { selector, privateKey }: ImportDkim,
): Promise<Domain> {
  const read = readDkimPrivateKey(privateKey);
  if ('problem' in read) throw ValidationError.of('privateKey', read.problem);
  return addKeys(app, caller, id, 'domain.dkim-imported', () => [{ selector, ...read }]);
}

/**
 * Stores new keys. Retires unpublished keys of the same algorithms; on a local domain, also
 * published keys.
 */
async function addKeys(
  app: App,
  caller: Caller,
  id: string,
  action: 'domain.dkim-rotated' | 'domain.dkim-imported',
  pairsOf: (generation: number) => readonly NamedPair[],
): Promise<Domain> {
  const { organizationId } = caller;
  const stored: StoredDomain = await app.store.write(async (trx) => {
    const updated_at = app.clock.now();
    await queries.domains.update(trx, organizationId, id, { updated_at });
    const { domain, keys } = await getDomainRows(app, trx, organizationId, id);
    const isLocal = domain.is_local === 1;
    const generation = 1 + Math.max(0, ...keys.map((key) => key.generation));
    const pairs = pairsOf(generation);
    checkSelectors(domain.domain, keys, pairs);
    const algorithms = new Set(pairs.map(({ algorithm }) => algorithm));
    const replaced = keys.filter(
      (key) =>
        key.is_active === 1 && algorithms.has(key.algorithm) && (isLocal || key.is_published === 0),
    );
    await queries.retireKeys(
      trx,
      replaced.map((key) => key.id),
      updated_at,
    );
    await storeDomainKeys(app, trx, keyRows(app, id, generation, pairs, isLocal));
    const selectors = pairs.map(({ selector }) => selector).join(', ');
    const change = domainChange(action, domain);
    await record(app, trx, caller, { ...change, details: { ...change.details, selectors } });
    return getDomainRows(app, trx, organizationId, id);
  });
  forgetSigningKeys(app, id);
  return toDomain(app, stored);
}

function checkSelectors(
  domain: string,
  keys: readonly queries.DomainKeyRow[],
  pairs: readonly NamedPair[],
): void {
  for (const { selector } of pairs) {
    if (keys.some((key) => key.selector === selector)) {
      const text = `the selector ${selector} names another key of ${domain}: choose a new one`;
      throw new ConflictError('domain', text);
    }
    if (`${selector}._domainkey.${domain}`.length > longestName) {
      const text = `makes a name of more than ${longestName} characters`;
      throw ValidationError.of('selector', text);
    }
  }
}
