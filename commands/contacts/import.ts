// `svc contacts import`. src/people/imports has the formats and fields of the file.
import { Args, Flags } from '@oclif/core';
import type { ImportReport } from '../../src/people/contacts/schema.ts';
import type { Local, OpenServer } from '../base/asking.ts';
import { BaseCommand, type CommonFlags } from '../base/command.ts';
import { readFile } from '../base/input/files.ts';
import { importFlags, runImport } from '../base/nouns/import.ts';
import { print, writeInterrupted } from '../base/output/output.ts';
import { startProgress } from '../base/output/progress.ts';
import type { importAt } from '../base/remote/contacts.ts';
import { withSession } from '../base/route.ts';
import { beforeInterrupt } from '../base/signals.ts';

const rowsPrinted = 10;

const number = (value: number) => value.toLocaleString('en');

async function reportText(report: ImportReport): Promise<string> {
  const { dryRun, format, created, updated, unchanged, rejected, pending, rows } = report;
  const would = dryRun ? 'would be ' : '';
  const counts = [
    `${format}: ${number(created + updated + unchanged + rejected)} rows`,
    `  ${number(created)} ${would}created`,
    `  ${number(updated)} ${would}updated`,
    `  ${number(unchanged)} unchanged`,
    `  ${number(rejected)} rejected`,
    ...(pending === undefined ? [] : [`  ${number(pending)} asked to confirm`]),
  ].join('\n');
  const preview = dryRun ? '\n\nPreview: nothing was changed.' : '';
  if (rows.length === 0) return `${counts}${preview}`;
  const { emphasize, table } = await import('../base/output/format.ts');
  const shown = rows.slice(0, rowsPrinted);
  const more = rejected - shown.length;
  const last = more > 0 ? `\n… and ${number(more)} more; --json shows 1,000` : '';
  return `${counts}\n\n${emphasize('Rejected')}\n${table(shown, ['line', 'field', 'reason'])}${last}${preview}`;
}

export default class ContactsImport extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Create and update contacts from a file';

  static override description =
    'Reads CSV with a header, JSON Lines, and the exports of other services. A row updates ' +
    'the contact with its address or external id, or creates one. A row of somebody who ' +
    'gets no mail adds a block. A column that speaks of consent without a known meaning ' +
    'stops the import until --map says what it means. On a terminal it shows a preview ' +
    'and asks. Importing a file again changes nothing, and after an interruption it does ' +
    'the rest. Ends with exit code 8 if rows were rejected.';

  static override examples = [
    { description: 'Preview the changes', command: 'svc contacts import people.csv --dry-run' },
    {
      description: 'Apply the changes without a question',
      command: 'svc contacts import people.csv --yes',
    },
    {
      description: 'Name the meaning of columns',
      command:
        'svc contacts import people.csv --map "Opt-in (DOI)=subscribed" --map "Notes=ignore"',
    },
    {
      description: 'Let each contact confirm a group by mail first',
      command: 'svc contacts import people.csv --require-confirmation usg_06dq2k0qz8h3v5m1r9t4w7xy',
    },
    { description: 'Read from standard input', command: 'svc contacts import - < people.jsonl' },
  ];

  static override args = {
    file: Args.string({ description: 'File to read, or - for standard input', required: true }),
  };

  static override flags = {
    ...importFlags,
    map: Flags.string({
      description:
        'Field for a column (repeatable): a field such as email or company, subscribed or ' +
        'unsubscribed (yes or no), status, bounced, complained, blocked, custom or ignore',
      helpValue: 'COLUMN=FIELD',
      multiple: true,
    }),
    'require-confirmation': Flags.string({
      description: 'Id of a double opt-in group that each contact is asked to confirm',
      helpValue: 'GROUP',
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ContactsImport);
    const { map, 'require-confirmation': group } = flags;
    await withSession(flags, (session) =>
      runImport(flags, args.file, async (dryRun) => {
        const report = session.local
          ? await importHere(session.local, flags, args.file, dryRun)
          : await importThere(session.server, flags, args.file, {
              dryRun,
              map,
              requireConfirmation: group,
            });
        await print(flags, report, () => reportText(report));
        const { created, updated, rejected, encoding } = report;
        return { changes: created + updated, rejected, encoding };
      }),
    );
  }
}

interface ImportChoice extends CommonFlags {
  map?: string[] | undefined;
  'require-confirmation'?: string | undefined;
}

async function importHere(
  { app, caller }: Local,
  flags: ImportChoice,
  file: string,
  dryRun: boolean,
): Promise<ImportReport> {
  const { importContacts } = await import('../../src/people/imports/contacts.ts');
  const { askImported } = await import('../../src/consent/opt-in/import.ts');
  const groupId = flags['require-confirmation'];
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
  const confirm = groupId === undefined ? undefined : await askImported(app, caller, groupId);
  return importContacts(app, caller, readFile(file, progress), {
    dryRun,
    map: flags.map,
    confirm,
    onBatch({ created, updated }) {
      came = { created, updated };
    },
  }).finally(() => {
    forget();
    progress.stop();
  });
}

async function importThere(
  server: OpenServer,
  flags: CommonFlags,
  file: string,
  choice: Parameters<typeof importAt>[2],
): Promise<ImportReport> {
  const remote = await import('../base/remote/contacts.ts');
  const progress = await startProgress(flags, 'read');
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of readFile(file, progress)) chunks.push(chunk);
  } finally {
    progress.stop();
  }
  return remote.importAt(server, Buffer.concat(chunks), choice);
}
