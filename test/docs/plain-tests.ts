// The tests that are held to plain words: their titles (titles.test.ts) and comments (comments.test.ts).
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** Folders and files of `test/` whose titles and comments are held to plain words. */
export const plainTests = [
  'admission',
  'answering',
  'audit',
  'blocks',
  'cli',
  'config',
  'contacts',
  'conversations',
  'deliveries',
  'docs',
  'domains',
  'e2e',
  'erasing',
  'events',
  'examples',
  'explain',
  'faults',
  'files',
  'first-start.test.ts',
  'http',
  'fixtures',
  'inbound',
  'keys',
  'listener',
  'mailbox-actions',
  'mailboxes',
  'messages',
  'mime',
  'net',
  'organizations',
  'queue',
  'reports',
  'runtime',
  'senders',
  'sending',
  'smtp',
  'store',
  'submission',
  'support',
  'threads',
  'tracking',
  'unsubscribing',
  'usage',
  'warming',
  'webhooks',
];

/** Empties quotations: tests on words quote them. */
export const unquoted = (text: string) => text.replaceAll(/"[^"\n]*"/g, '""');

/** Lists the files under a path of the repository that end as `ends` says, or the path itself. */
export function filesUnder(path: string, ends: RegExp): string[] {
  if (ends.test(path)) return [path];
  return readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
    .filter((name) => ends.test(name))
    .map((name) => join(path, name));
}
