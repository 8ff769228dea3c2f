// `svc blocks export`: to standard output or a file. src/people/blocks/export.ts makes the text.
import { Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { given } from '../base/input/body.ts';
import { writeFile, writeOut } from '../base/input/files.ts';
import { print } from '../base/output/output.ts';
import { withCaller } from '../base/session.ts';

export default class BlocksExport extends BaseCommand {
  static override summary = 'Write all blocks as CSV or JSON Lines';

  static override description =
    'Writes the oldest first. In CSV an address that a spreadsheet would take for a ' +
    'formula begins with an apostrophe; "svc blocks import" removes it. With --json the ' +
    'blocks go to standard output as JSON Lines.';

  static override examples = [
    { description: 'Write all blocks to a file', command: 'svc blocks export --output blocks.csv' },
    {
      description: 'Write the blocks by complaints as JSON',
      command: 'svc blocks export --reason complaint --format ndjson',
    },
  ];

  static override flags = {
    output: Flags.string({ description: 'File to write', helpValue: 'FILE' }),
    overwrite: Flags.boolean({ description: 'Replace the file if it exists' }),
    format: Flags.string({ description: 'Format: csv (default) or ndjson' }),
    reason: Flags.string({
      description: 'Only blocks with this reason: bounce, complaint, unsubscribe or manual',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(BlocksExport);
    const { output, overwrite, reason } = flags;
    const format = flags.format ?? (flags.json && output === undefined ? 'ndjson' : undefined);
    await withCaller(flags, async (app, caller) => {
      const { exportBlocks } = await import('../../src/people/blocks/export.ts');
      const { exportBlocksInput } = await import('../../src/people/blocks/schema.ts');
      const { parseWith } = await import('../../src/core/api/validate.ts');
      const options = parseWith(exportBlocksInput, given({ format, reason }), 'query');
      let blocks = 0;
      const texts = async function* () {
        for await (const piece of exportBlocks(app, caller, options)) {
          blocks += piece.blocks;
          yield piece.text;
        }
      };
      if (output === undefined) return writeOut(texts());
      await writeFile(texts(), output, overwrite);
      const message = `Wrote ${blocks} blocks to ${output}`;
      await print(flags, { success: true, message, file: output, blocks }, () => `${message}.`);
    });
  }
}
