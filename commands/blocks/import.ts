// `svc blocks import`. Reading, parsing and storing are src/people/imports.
import { Args, Flags } from '@oclif/core';
import type { ImportReport, RowGroup } from '../../src/people/imports/blocks.ts';
import { BaseCommand } from '../base/command.ts';
import { importedColumns } from '../base/input/fields.ts';
import { readFile } from '../base/input/files.ts';
import { importFlags, runImport } from '../base/nouns/import.ts';
import { print, writeInterrupted, writeWarning } from '../base/output/output.ts';
import { startProgress } from '../base/output/progress.ts';
import { withCaller } from '../base/session.ts';
import { beforeInterrupt } from '../base/signals.ts';

const rowsPrinted = 10;

const number = (value: number) => value.toLocaleString('en');

async function groupText(title: string, { count, first }: RowGroup): Promise<string[]> {
  if (count === 0) return [];
  const { emphasize, table } = await import('../base/output/format.ts');
  const shown = first.slice(0, rowsPrinted);
  const more = count - shown.length;
  const rows = table(shown, importedColumns);
  return [`${emphasize(title)}\n${more > 0 ? `${rows}\n… and ${number(more)} more` : rows}`];
}

async function reportText(report: ImportReport): Promise<string> {
  const { dryRun, title, rows, added, existing, skipped, rejected } = report;
  const reasons = Object.entries(added.reasons)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${number(count)} ${reason}`);
  const ofWhich = reasons.length > 0 ? ` (${reasons.join(', ')})` : '';
  const counts = [
    `${title}: ${number(rows)} rows`,
    `  ${number(added.count)} ${dryRun ? 'would be added' : 'added'}${ofWhich}`,
    `  ${number(existing.count)} exist already`,
    `  ${number(skipped.count)} skipped: no blocks`,
    `  ${number(rejected.count)} rejected`,
  ];
  const parts = [
    counts.join('\n'),
    ...(dryRun ? await groupText('Would be added', added) : []),
    ...(await groupText('Skipped: no blocks', skipped)),
    ...(await groupText('Rejected', rejected)),
  ];
  if (dryRun) parts.push('Preview: nothing was changed.');
  return parts.join('\n\n');
}

function partialText(file: string): string {
  return (
    `${file === '-' ? 'Standard input' : file} is one page of a longer list: it has ` +
    'a NextToken. Fetch the other pages with "aws sesv2 list-suppressed-destinations ' +
    '--next-token …" and import each'
  );
}

/** Describes an interrupted import: added blocks stay, and the next run skips them. */
function interruptedText({ rows, added }: Came, isDone: boolean): string {
  const came = `interrupted after ${number(rows)} rows`;
  if (!isDone) return `${came}: nothing was changed`;
  return `${came}, ${number(added)} added. Run the same command again to add the rest`;
}

/** Rows that an import has read so far, and blocks that it has added. */
interface Came {
  rows: number;
  added: number;
}

export default class BlocksImport extends BaseCommand {
  static override summary = "Block the addresses of another service's export";

  static override description =
    'Reads the CSV exports of SendGrid, Postmark, Mailgun, Amazon SES, Resend and Postal, the ' +
    'same as JSON Lines, the JSON of SES, the output of "svc blocks export", and plain ' +
    'lists of addresses, each with or without a reason after it. The header tells the ' +
    'format. On a terminal it shows a preview and asks. Importing a file again changes ' +
    'nothing more, and after an interruption it adds the rest. Ends with exit code 8 if ' +
    'rows were rejected.';

  static override examples = [
    {
      description: 'Preview the changes',
      command: 'svc blocks import suppression_bounces.csv --dry-run',
    },
    {
      description: 'Apply the changes without a question',
      command: 'svc blocks import suppression_bounces.csv --yes',
    },
    {
      description: 'Block a list of people who do not want mail',
      command: 'svc blocks import list.txt --reason unsubscribe --yes',
    },
    {
      description: 'Read from standard input',
      command: 'svc blocks import - --format ses < suppressed.jsonl',
    },
  ];

  static override args = {
    file: Args.string({ description: 'File to read, or - for standard input', required: true }),
  };

  static override flags = {
    ...importFlags,
    format: Flags.string({
      description:
        'Format (default: found by the header): svc, sendgrid-bounces, ' +
        'sendgrid-invalid-emails, sendgrid-spam-reports, sendgrid-unsubscribes, ' +
        'postmark-suppressions, postmark-bounces, mailgun-bounces, mailgun-complaints, ' +
        'mailgun-unsubscribes, ses, resend-suppressions, resend-contacts, postal-suppressions, ' +
        'listmonk-bounces or plain',
    }),
    reason: Flags.string({
      description: 'Reason for lines of a plain list without one (default: manual)',
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BlocksImport);
    await withCaller(flags, async (app, caller) => {
      const { importBlocks } = await import('../../src/people/imports/blocks.ts');
      const { importBlocksInput } = await import('../../src/people/blocks/schema.ts');
      const { parseWith } = await import('../../src/core/api/validate.ts');
      const { format, reason } = flags;
      const options = parseWith(importBlocksInput, { format, reason }, 'body');
      await runImport(flags, args.file, async (dryRun) => {
        const progress = await startProgress(flags, 'read');
        let came: Came = { rows: 0, added: 0 };
        const forget = beforeInterrupt(() => {
          progress.stop();
          writeInterrupted(flags, interruptedText(came, !dryRun), came);
        });
        const report = await importBlocks(app, caller, readFile(args.file, progress), {
          ...options,
          dryRun,
          onBatch({ rows, added }) {
            came = { rows, added: dryRun ? 0 : added.count };
          },
        }).finally(() => {
          forget();
          progress.stop();
        });
        await print(flags, report, () => reportText(report));
        if (report.isPartial) writeWarning(partialText(args.file));
        const { added, rejected, encoding } = report;
        return { changes: added.count, rejected: rejected.count, encoding };
      });
    });
  }
}
