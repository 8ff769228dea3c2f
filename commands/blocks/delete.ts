import { deleteCommand } from '../base/verbs.ts';
import { args, find } from './show.ts';

export default deleteCommand({
  summary: 'Lift a block: the address gets mail again',
  description:
    'Deliveries suppressed meanwhile stay unsent. Asks for confirmation on a terminal; ' +
    'elsewhere it needs --yes.',
  examples: [
    ['Lift a block by its address', 'svc blocks delete ada@example.com'],
    ['Lift a block in a script', 'svc blocks delete blk_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args,
  find,
  shows: async () => (await import('../../src/people/blocks/routes.ts')).blockRoutes.get,
  route: async () => (await import('../../src/people/blocks/routes.ts')).blockRoutes.delete,
  question: ({ address, reason }) => `Send to ${address} again (blocked: ${reason})?`,
  done: ({ message }, { address }) => `${message}: ${address} gets mail again.`,
});
