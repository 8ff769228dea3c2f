import { Flags } from '@oclif/core';
import { given } from '../base/body.ts';
import { BaseCommand, pageFlags } from '../base/command.ts';
import { blockColumns } from '../base/fields.ts';
import { printList } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class BlocksList extends BaseCommand {
  static override summary = 'List the addresses that get no mail, newest first';

  static override examples = [
    { description: 'Who complained', command: 'svc blocks list --reason complaint' },
    { description: 'Is it blocked?', command: 'svc blocks list --address ada@example.com' },
  ];

  static override flags = {
    reason: Flags.string({ description: 'Only these: bounce, complaint, unsubscribe or manual' }),
    address: Flags.string({ description: 'Only of this address' }),
    ...pageFlags,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(BlocksList);
    await withCaller(flags, async (app, caller) => {
      const { listBlocks } = await import('../../src/blocks/blocks.ts');
      const { listBlocksQuery } = await import('../../src/blocks/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const { reason, address, page, limit } = flags;
      const query = parseWith(listBlocksQuery, given({ reason, address, page, limit }), 'query');
      const blocks = await listBlocks(app, caller, query);
      await printList(flags, blocks, blockColumns, 'No such blocks.');
    });
  }
}
