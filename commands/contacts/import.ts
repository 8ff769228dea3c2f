// `svc contacts import`. Formats and fields of the file: src/people/contacts/import*.ts.
import { Args, Flags } from '@oclif/core';
import type { ImportReport } from '../../src/people/contacts/schema.ts';
import { BaseCommand } from '../base/command.ts';
import { readFile } from '../base/files.ts';
import { print, writeInterrupted } from '../base/output.ts';
import { startProgress } from '../base/progress.ts';
import { withCaller } from '../base/session.ts';
import { beforeInterrupt } from '../base/signals.ts';

const rowsPrinted = 10;

const number = (value: number) => value.toLocaleString('en');

async function reportText(report: ImportReport): Promise<string> {
  const { dryRun, format, created, updated, unchanged, rejected, rows } = report;
  const would = dryRun ? 'would be ' : '';
  const counts = [
    `${format}: ${number(created + updated + unchanged + rejected)} rows`,
    `  ${number(created)} ${would}created`,
    `  ${number(updated)} ${would}updated`,
    `  ${number(unchanged)} unchanged`,
    `  ${number(rejected)} rejected`,
  ].join('\n');
  if (rows.length === 0) return counts;
  const { emphasize, table } = await import('../base/format.ts');
  const shown = rows.slice(0, rowsPrinted);
  const more = rejected - shown.length;
  const last = more > 0 ? `\n… and ${number(more)} more; --json shows 1,000` : '';
  return `${counts}\n\n${emphasize('Rejected')}\n${table(shown, ['row', 'field', 'reason'])}${last}`;
}

export default class ContactsImport extends BaseCommand {
  static override summary = 'Create and update contacts from a file';

  static override description =
    'Reads CSV with a header, JSON Lines, and the exports of Mailchimp, SendGrid, Resend ' +
    'and listmonk. A row updates the contact with its address or external id, or creates ' +
    'one. A row of somebody who has unsubscribed adds a block. Importing a file again ' +
    'changes nothing, and after an interruption it does the rest.';

  static override examples = [
    { description: 'Preview the changes', command: 'svc contacts import people.csv --dry-run' },
    { description: 'Apply the changes', command: 'svc contacts import people.csv' },
    { description: 'Read from standard input', command: 'svc contacts import - < people.jsonl' },
  ];

  static override args = {
    file: Args.string({ description: 'File to read, or - for standard input', required: true }),
  };

  static override flags = {
    'dry-run': Flags.boolean({ description: 'Count the changes without applying them' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ContactsImport);
    const dryRun = flags['dry-run'] === true;
    await withCaller(flags, async (app, caller) => {
      const { importContacts } = await import('../../src/people/contacts/import.ts');
      const progress = await startProgress(flags, 'read');
      let came = { created: 0, updated: 0 };
      const forget = beforeInterrupt(() => {
        progress.stop();
        const done = `${number(came.created)} created, ${number(came.updated)} updated`;
        const text = dryRun
          ? 'nothing was changed'
          : `${done}. Run the same command again to do the rest`;
        writeInterrupted(flags, `interrupted: ${text}`, came);
      });
      const report = await importContacts(app, caller, readFile(args.file, progress), {
        dryRun,
        onBatch({ created, updated }) {
          came = { created, updated };
        },
      }).finally(() => {
        forget();
        progress.stop();
      });
      await print(flags, report, () => reportText(report));
    });
  }
}
