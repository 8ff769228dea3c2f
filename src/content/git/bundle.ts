// Git bundles of version 2 (gitformat-bundle(5)): a list of refs, then a pack.
import { MalformedRequestError, ValidationError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { isRefName } from './incoming.ts';
import { measure, packOf } from './pack-write.ts';
import { type Head, mainRef } from './repository.ts';

const signature = '# v2 git bundle\n';
const mostHeaderBytes = 64 * 1024;
const mostHeaderLines = 1_000;
/** Most compressed bytes of a history in a bundle. */
const mostBundleBytes = 32 * 1024 * 1024;

/** Returns the history of main as a bundle. @throws MalformedRequestError (413) above 32 MB */
export async function writeBundle(db: Db, repositoryId: string, head: Head): Promise<Buffer> {
  const range = { after: 0, to: head.commits };
  if ((await measure(db, repositoryId, range)).bytes > mostBundleBytes) {
    const most = mostBundleBytes / 1024 / 1024;
    throw new MalformedRequestError(`The history is larger than ${most} MB: use git clone`, 413);
  }
  const parts: Buffer[] = [Buffer.from(`${signature}${head.oid} ${mainRef}\n${head.oid} HEAD\n\n`)];
  for await (const part of packOf(db, repositoryId, range)) parts.push(part);
  return Buffer.concat(parts);
}

/**
 * Splits a bundle into the commit of main, or else of HEAD, and the pack. @throws ValidationError
 */
export function readBundle(bundle: Buffer): { tip: string; pack: Buffer } {
  const refuse = (problem: string) => ValidationError.of('bundle', problem);
  if (bundle.toString('latin1', 0, signature.length) !== signature) {
    throw refuse('is not a git bundle of version 2: make it by git bundle create');
  }
  const end = bundle.subarray(0, mostHeaderBytes).indexOf('\n\n');
  if (end < 0) throw refuse('its list of refs does not end');
  const lines = bundle.toString('utf8', signature.length, end).split('\n', mostHeaderLines + 1);
  if (lines.length > mostHeaderLines) throw refuse(`has more than ${mostHeaderLines} refs`);
  const refs = new Map<string, string>();
  for (const line of lines.filter((one) => !one.startsWith('-'))) {
    const [, oid, name] = /^([a-f0-9]{40}) (.+)$/.exec(line) ?? [];
    if (oid === undefined || name === undefined) throw refuse('its list of refs is malformed');
    if (!isRefName(name)) throw refuse(`has a ref with the malformed name ${name.slice(0, 100)}`);
    refs.set(name, oid);
  }
  const tip = refs.get(mainRef) ?? refs.get('HEAD');
  if (tip === undefined) throw refuse(`has no ${mainRef}: add main to git bundle create`);
  return { tip, pack: bundle.subarray(end + 2) };
}
