// Shows the result of a dry run of a send: the content, then refusals, warnings and blocked
// recipients.
import type { DryRunResult } from '../../../src/outbound/messages/schema.ts';
import type { CommonFlags } from '../command.ts';
import { ExpectationError } from '../output/failure.ts';
import { print } from '../output/output.ts';

const lists = [
  ['problems', 'Refused', ['field', 'message']],
  ['warnings', 'Warnings', ['code', 'message', 'path', 'line']],
  ['suppressed', 'Blocked recipients', ['address', 'reason']],
] as const;

/** @throws ExpectationError (exit code 8) if the send would be refused. */
export async function printDryRun(flags: CommonFlags, result: DryRunResult): Promise<void> {
  await print(flags, result, async () => {
    const { card, emphasize, table } = await import('../output/format.ts');
    const parts = [card(result, ['valid', 'subject', 'preheader', 'sizeBytes'])];
    if (result.text) parts.push(`${emphasize('Text')}\n${result.text.trimEnd()}`);
    for (const [field, title, columns] of lists) {
      if (result[field].length > 0)
        parts.push(`${emphasize(title)}\n${table(result[field], columns)}`);
    }
    return parts.join('\n\n');
  });
  if (!result.valid) throw new ExpectationError('This message would be refused');
}
