import { Args } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { blockCard } from '../base/fields.ts';
import { printCard } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class BlocksShow extends BaseCommand {
  static override summary = 'Show a block: why and since when an address gets no mail';

  static override examples = [
    { description: 'By its address', command: 'svc blocks show ada@example.com' },
    { description: 'By its id', command: 'svc blocks show blk_06dq2k0qz8h3v5m1r9t4w7xy' },
  ];

  static override args = {
    id: Args.string({ description: 'Id of the block (blk_…) or the address', required: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BlocksShow);
    await withCaller(flags, async (app, caller) => {
      const { getBlockNamed } = await import('../../src/blocks/blocks.ts');
      await printCard(flags, await getBlockNamed(app, caller, args.id), blockCard);
    });
  }
}
