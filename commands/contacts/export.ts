// `svc contacts export`: to standard output or a file. src/people/contacts/export.ts makes the
// text.
import { Flags } from '@oclif/core';
import type { ExportContacts } from '../../src/people/contacts/schema.ts';
import type { Session } from '../base/asking.ts';
import { BaseCommand } from '../base/command.ts';
import { given } from '../base/input/body.ts';
import { writeFile, writeOut } from '../base/input/files.ts';
import { print } from '../base/output/output.ts';
import { type Progress, startProgress } from '../base/output/progress.ts';
import { withSession } from '../base/route.ts';

const noProgress: Progress = { update: () => {}, stop: () => {} };

export default class ContactsExport extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Write all contacts as CSV or JSON Lines';

  static override description =
    'Writes the oldest first. In CSV a value that a spreadsheet would take for a formula ' +
    'begins with an apostrophe; "svc contacts import" removes it. With --json the ' +
    'contacts go to standard output as JSON Lines.';

  static override examples = [
    {
      description: 'Write all contacts to a file',
      command: 'svc contacts export --output people.csv',
    },
    {
      description: 'Write all contacts as JSON Lines',
      command: 'svc contacts export --format ndjson',
    },
  ];

  static override flags = {
    output: Flags.string({ description: 'File to write', helpValue: 'FILE' }),
    overwrite: Flags.boolean({ description: 'Replace the file if it exists' }),
    format: Flags.string({ description: 'Format: csv (default) or ndjson' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(ContactsExport);
    const { output, overwrite } = flags;
    const format = flags.format ?? (flags.json && output === undefined ? 'ndjson' : undefined);
    await withSession(flags, async (session) => {
      const { exportQuery } = await import('../../src/people/contacts/schema.ts');
      const { parseWith } = await import('../../src/core/api/validate.ts');
      const options = parseWith(exportQuery, given({ format }), 'query');
      const total = await totalOf(session);
      // Shows a bar only for a file: on a terminal the bar would appear between the rows.
      const progress = output === undefined ? noProgress : await startProgress(flags, 'written');
      let contacts = 0;
      const texts = async function* () {
        for await (const piece of piecesOf(session, options)) {
          contacts = piece.contacts;
          progress.update(contacts, Math.max(total, contacts));
          yield piece.text;
        }
      };
      if (output === undefined) return writeOut(texts());
      await writeFile(texts(), output, overwrite).finally(() => progress.stop());
      const message = `Wrote ${contacts} contacts to ${output}`;
      await print(flags, { success: true, message, file: output, contacts }, () => `${message}.`);
    });
  }
}

/** Returns the number of contacts, for the progress bar; 0 (unknown) at a server. */
async function totalOf({ local }: Session): Promise<number> {
  if (!local) return 0;
  const { countOfTag } = await import('../../src/people/contacts/count-queries.ts');
  return countOfTag(local.app.store.db, local.caller.organizationId);
}

/** Yields the text of the export with the number of contacts so far. */
async function* piecesOf(
  { local, server }: Session,
  options: ExportContacts,
): AsyncGenerator<{ text: string; contacts: number }> {
  if (!local) {
    const { exportAt } = await import('../base/remote/contacts.ts');
    return yield* exportAt(server, options);
  }
  const { exportContacts } = await import('../../src/people/contacts/export.ts');
  let contacts = 0;
  for await (const piece of exportContacts(local.app, local.caller, options)) {
    contacts += piece.contacts;
    yield { text: piece.text, contacts };
  }
}
