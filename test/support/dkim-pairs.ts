// A few RSA keys for each process, in turn: making a key takes longer than most tests and commands.
import {
  type DkimAlgorithm,
  type DkimKeyPair,
  generateDkimKey,
} from '../../src/mail/mime/dkim/dkim-key.ts';

const mostPairs = 3;
const pairs: Promise<DkimKeyPair>[] = [];
let taken = 0;

/** Returns a key pair that earlier domains may have too; for `AppOverrides.generateDkimKey`. */
export function pooledDkimKey(algorithm: DkimAlgorithm): Promise<DkimKeyPair> {
  if (algorithm !== 'rsa-sha256') return generateDkimKey(algorithm);
  const place = taken++ % mostPairs;
  pairs[place] ??= generateDkimKey(algorithm);
  return pairs[place];
}
