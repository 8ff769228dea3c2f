// Shared parts of the commands that import a file. On a terminal they show a preview and ask.
// Elsewhere they apply the changes, unless `--dry-run` is given. Rejected rows end import and
// preview with exit code 8.
import { Flags } from '@oclif/core';
import type { Encoding } from '../../../src/platform/csv/decode.ts';
import type { CommonFlags } from '../command.ts';
import { canAsk, confirmed } from '../input/ask.ts';
import { ExpectationError } from '../output/failure.ts';
import { writeLine, writeWarning } from '../output/output.ts';

export const importFlags = {
  'dry-run': Flags.boolean({
    description: 'Show the changes without applying them',
    exclusive: ['yes'],
  }),
  yes: Flags.boolean({ description: 'Apply the changes without a preview and a question' }),
};

interface ImportFlags extends CommonFlags {
  'dry-run'?: boolean;
  yes?: boolean;
}

/** Counts of an import or a preview, after the report was printed. */
export interface Imported {
  changes: number;
  rejected: number;
  encoding: Encoding;
}

/**
 * Runs an import. `run` makes the import or the preview, and prints the report. @throws
 * ExpectationError if rows were rejected; DeclinedError if the person declines
 */
export async function runImport(
  flags: ImportFlags,
  file: string,
  run: (dryRun: boolean) => Promise<Imported>,
): Promise<void> {
  const asks = canAsk() && file !== '-' && !flags.json && !flags.yes && !flags['dry-run'];
  let done = await run(flags['dry-run'] === true || asks);
  if (done.encoding !== 'utf-8') {
    writeWarning(`${file} is not in UTF-8: it was read as Windows-1252 (Latin-1)`);
  }
  if (asks && done.changes > 0) {
    await confirmed('Apply these changes?', false);
    writeLine('');
    done = await run(false);
  }
  if (done.rejected === 0) return;
  const rows =
    done.rejected === 1 ? '1 row was' : `${done.rejected.toLocaleString('en')} rows were`;
  throw new ExpectationError(`${rows} rejected`);
}
