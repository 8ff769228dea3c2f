// Creates the DKIM keys of domains, for a single domain at a time. Making an RSA pair occupies a
// core for 0.1 s, so a caller that adds hundreds of domains must not occupy every core.
import type { App } from '../../core/app.ts';
import type { DkimAlgorithm, DkimKeyPair } from '../../mail/mime/dkim/dkim-key.ts';
import { CapacityError } from '../../platform/errors.ts';
import { perApp } from '../../platform/runtime/per-app.ts';

export type KeyPairs = readonly (readonly [DkimAlgorithm, DkimKeyPair])[];

/** Most domains of an organization whose keys are being made or are queued. */
const mostWaiting = 20;

const makingOf = perApp((_app: App) => ({
  last: Promise.resolve() as Promise<unknown>,
  waiting: new Map<string, number>(),
}));

async function makeEach(app: App, algorithms: readonly DkimAlgorithm[]): Promise<KeyPairs> {
  const pairs: (readonly [DkimAlgorithm, DkimKeyPair])[] = [];
  for (const algorithm of algorithms) pairs.push([algorithm, await app.generateDkimKey(algorithm)]);
  return pairs;
}

/**
 * Creates a pair for each algorithm, after the pairs of earlier requests.
 * @throws CapacityError if 20 domains of the organization wait for keys.
 */
export async function makeKeys(
  app: App,
  organizationId: string,
  algorithms: readonly DkimAlgorithm[],
): Promise<KeyPairs> {
  const making = makingOf(app);
  const waiting = making.waiting.get(organizationId) ?? 0;
  if (waiting >= mostWaiting) {
    const text = `${mostWaiting} domains of this organization wait for their DKIM keys: try again in a moment`;
    throw new CapacityError(text, 1);
  }
  making.waiting.set(organizationId, waiting + 1);
  const made = making.last.then(() => makeEach(app, algorithms));
  making.last = made.catch(() => {});
  try {
    return await made;
  } finally {
    const left = (making.waiting.get(organizationId) ?? 1) - 1;
    if (left > 0) making.waiting.set(organizationId, left);
    else making.waiting.delete(organizationId);
  }
}
