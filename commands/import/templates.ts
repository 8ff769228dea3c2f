// `svc import templates`. src/content/templates/foreign/ reads and translates the templates.
import { Args, Flags } from '@oclif/core';
import { foreignServices } from '../../src/content/templates/foreign/fields.ts';
import type {
  ImportedTemplate,
  TemplateImport,
} from '../../src/content/templates/foreign/import.ts';
import { BaseCommand } from '../base/command.ts';
import { readFile, textOf, wholePath } from '../base/input/files.ts';
import { ExpectationError, UsageError } from '../base/output/failure.ts';
import { print } from '../base/output/output.ts';
import { startProgress } from '../base/output/progress.ts';
import { withCaller } from '../base/session.ts';

const mostBytes = 32 * 1024 * 1024;

function refusalLines({ slug, reason, untranslated }: ImportedTemplate): string[] {
  const parts = untranslated.map(
    ({ field, line, text, why }) => `  ${field}, line ${line}: ${text} (${why})`,
  );
  return [`${slug}: ${reason}`, ...parts];
}

/** Returns a line for each field that the draft leaves out. */
function leftLines({ slug, left }: ImportedTemplate): string[] {
  return left.map(({ field, advice }) => `${slug}: ${field} is left out: ${advice}`);
}

async function importText({ dryRun, templates, ...counts }: TemplateImport): Promise<string> {
  const { plainText, table } = await import('../base/output/format.ts');
  const refused = templates.filter(({ result }) => result === 'refused');
  const left = templates.filter(({ result }) => result === 'created').flatMap(leftLines);
  const would = dryRun ? 'would be ' : '';
  const totals = `${counts.created} ${would}created, ${counts.existing} exist already, ${counts.refused} refused`;
  return [
    table(templates, ['slug', 'name', 'result']),
    totals,
    ...(refused.length > 0 ? [plainText(refused.flatMap(refusalLines).join('\n'))] : []),
    ...(left.length > 0 ? [plainText(left.join('\n'))] : []),
    ...(dryRun ? ['Preview: nothing was changed.'] : []),
  ].join('\n\n');
}

export default class ImportTemplates extends BaseCommand {
  static override summary = 'Create drafts from the templates of another service';

  static override description =
    'Reads the JSON that the API of the service answers, and translates its placeholders to Liquid. A template with a ' +
    'part that has no equal here is refused, with the lines. A slug that exists stays as it is. Publish each draft with ' +
    '"svc templates publish". Ends with exit code 8 if a template was refused.';

  static override examples = [
    {
      description: 'Preview the drafts',
      command: 'svc import templates --from sendgrid templates.json --dry-run',
    },
    { description: 'Create them', command: 'svc import templates --from postmark templates.json' },
  ];

  static override args = {
    file: Args.string({ description: 'File to read, or - for standard input', required: true }),
  };

  static override flags = {
    from: Flags.string({
      description: `Service that the file comes from: ${foreignServices.join(', ')}`,
      helpValue: 'SERVICE',
      required: true,
    }),
    'dry-run': Flags.boolean({ description: 'Show the drafts without creating them' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ImportTemplates);
    const service = foreignServices.find((one) => one === flags.from);
    if (service === undefined) {
      throw new UsageError(`--from ${flags.from}: expected one of ${foreignServices.join(', ')}`);
    }
    const progress = await startProgress(flags, 'read');
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of readFile(args.file, progress)) {
      size += chunk.length;
      if (size > mostBytes) {
        throw new UsageError(`${wholePath(args.file)}: has more than ${mostBytes} bytes`);
      }
      chunks.push(chunk);
    }
    progress.stop();
    const text = textOf(Buffer.concat(chunks), args.file);
    const { importTemplates } = await import('../../src/content/templates/foreign/import.ts');
    const report = await withCaller(flags, (app, caller) =>
      importTemplates(app, caller, {
        service,
        text,
        dryRun: flags['dry-run'],
      }),
    );
    await print(flags, report, () => importText(report));
    if (report.refused > 0) {
      throw new ExpectationError(`${report.refused} of ${report.templates.length} were refused`);
    }
  }
}
