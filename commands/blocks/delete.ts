import { Flags } from '@oclif/core';
import type { Liftable } from '../../src/people/blocks/lift.ts';
import { blockRoutes } from '../../src/people/blocks/routes.ts';
import { type CommonFlags, yesFlag } from '../base/command.ts';
import { confirmed } from '../base/input/ask.ts';
import { given } from '../base/input/body.ts';
import { rangeFrom } from '../base/input/since.ts';
import { UsageError } from '../base/output/failure.ts';
import { print } from '../base/output/output.ts';
import { startProgress } from '../base/output/progress.ts';
import { withCaller } from '../base/session.ts';
import { deleteCommand } from '../base/verbs.ts';
import { args, find } from './show.ts';

const DeleteOne = deleteCommand({
  summary: 'Lift a block, or many: the addresses get mail again',
  description:
    'Deliveries suppressed meanwhile stay unsent. --reason lifts all blocks with a reason, of a ' +
    'time and a domain if you add them, after you have seen their number.',
  examples: [
    ['Lift a block by its address', 'svc blocks delete ada@example.com'],
    ['Lift a block in a script', 'svc blocks delete blk_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
    [
      'Lift the blocks of the last two hours by bounces at a domain',
      'svc blocks delete --reason bounce --since 2h --domain example.com --yes',
    ],
  ],
  args: { id: { ...args.id, required: false } },
  find,
  shows: blockRoutes.get,
  route: blockRoutes.delete,
  question: ({ address, reason }) => `Send to ${address} again (blocked: ${reason})?`,
  done: ({ message }, { address }) => `${message}: ${address} gets mail again.`,
});

const selection = {
  reason: Flags.string({
    description: 'Lift all with this reason: bounce, complaint, unsubscribe or manual',
  }),
  after: Flags.string({
    aliases: ['since'],
    description: 'Only blocks made that long ago or later, or since this instant',
    helpValue: '2h',
    dependsOn: ['reason'],
  }),
  before: Flags.string({
    aliases: ['until'],
    description: 'Only blocks made longer ago, or before this instant',
    helpValue: '1h',
    dependsOn: ['reason'],
  }),
  domain: Flags.string({
    description: 'Only addresses at this domain',
    helpValue: 'DOMAIN',
    dependsOn: ['reason'],
  }),
};

type Selection = Record<keyof typeof selection, string | undefined>;

export default class BlocksDelete extends DeleteOne {
  /** The parser of oclif reads only own properties of the class. */
  static override args = DeleteOne.args;

  static override flags = { ...DeleteOne.flags, ...yesFlag, ...selection };

  override async run(): Promise<void> {
    const typed = await this.parse(BlocksDelete);
    const { reason, after, before, domain, ...flags } = typed.flags;
    const isNamed = typed.args['id'] !== undefined;
    if (isNamed && reason === undefined) return super.run();
    if (isNamed) throw new UsageError('a block by id or address takes no --reason');
    if (reason === undefined) throw new UsageError('expected the id of a block, or --reason');
    await liftMany(flags, { reason, after, before, domain }, flags.yes === true);
  }
}

/** Returns the question, with the addresses of the first blocks. */
function askedText({ selected, first }: Liftable): string {
  const more = selected > first.length ? `, and ${selected - first.length} more` : '';
  const addresses = first.map(({ address }) => address).join(', ');
  return `Lift ${blocksWord(selected)} (${addresses}${more})?`;
}

function blocksWord(count: number): string {
  return `${count.toLocaleString('en')} block${count === 1 ? '' : 's'}`;
}

async function liftMany(flags: CommonFlags, typed: Selection, yes: boolean): Promise<void> {
  await withCaller(flags, async (app, caller) => {
    const { findLiftable, liftBlocks } = await import('../../src/people/blocks/lift.ts');
    const { liftBlocksInput } = await import('../../src/people/blocks/schema.ts');
    const { parseWith } = await import('../../src/core/api/validate.ts');
    const range = rangeFrom(typed, app.clock.now());
    const wanted = parseWith(liftBlocksInput, given({ ...typed, ...range }), 'query');
    const found = await findLiftable(app, caller, wanted);
    if (found.selected > 0) await confirmed(askedText(found), yes);
    const progress = await startProgress(flags, 'lifted');
    const lifting = liftBlocks(app, caller, wanted, (lifted) =>
      progress.update(lifted, Math.max(lifted, found.selected)),
    );
    const result = await lifting.finally(() => progress.stop());
    const text = `Lifted: ${blocksWord(result.lifted)}`;
    await print(flags, result, () => (found.selected === 0 ? 'No block fits.' : text));
  });
}
