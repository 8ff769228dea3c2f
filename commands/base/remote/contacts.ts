// The import and the export of contacts at a server, where the file is a body of HTTP.
import type { ExportContacts, ImportReport } from '../../../src/people/contacts/schema.ts';
import type { OpenServer } from '../asking.ts';
import { asRefusal } from './refusal.ts';

/** Longest wait for the report on a large file. */
const importTimeoutMs = 30 * 60_000;

/** The choices of an import, as POST /v1/contacts/import takes them. */
interface ImportChoice {
  dryRun: boolean;
  map?: string[] | undefined;
  requireConfirmation?: string | undefined;
}

/** Imports a file. As on the store, the first character decides between CSV and JSON Lines. */
export async function importAt(
  { url, client }: OpenServer,
  bytes: Buffer,
  { dryRun, ...choice }: ImportChoice,
): Promise<ImportReport> {
  const head = bytes.subarray(0, 200).toString('utf8');
  const type = /^[{[]/.test(head.trimStart()) ? 'application/x-ndjson' : 'text/csv';
  const query = Object.fromEntries(
    Object.entries({ ...choice, dryRun: String(dryRun) }).filter(([, value]) => value),
  );
  try {
    const body = new Blob([new Uint8Array(bytes)], { type });
    const options = { timeoutMs: importTimeoutMs };
    return (await client.contacts.import(body, query, options)) as unknown as ImportReport;
  } catch (error) {
    throw asRefusal(error, url);
  }
}

/**
 * Counts the contacts in text that arrives in pieces. A CSV value in quotes may have line ends, and
 * a header comes first; JSON Lines have a line for each contact.
 */
function contactCounter({ format }: ExportContacts) {
  const isCsv = format === 'csv';
  let rows = isCsv ? -1 : 0;
  let isQuoted = false;
  return (text: string) => {
    for (const character of text) {
      if (isCsv && character === '"') isQuoted = !isQuoted;
      else if (character === '\n' && !isQuoted) rows += 1;
    }
    return Math.max(0, rows);
  };
}

/** Yields the exported text with the number of contacts so far. */
export async function* exportAt(
  { url, client }: OpenServer,
  options: ExportContacts,
): AsyncGenerator<{ text: string; contacts: number }> {
  try {
    const { body } = await client.contacts.export({ format: options.format });
    if (!body) return;
    const count = contactCounter(options);
    const decoder = new TextDecoder();
    for await (const bytes of body) {
      const text = decoder.decode(bytes, { stream: true });
      yield { text, contacts: count(text) };
    }
  } catch (error) {
    throw asRefusal(error, url);
  }
}
