import { Args } from '@oclif/core';
import { blockRoutes } from '../../src/people/blocks/routes.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Block an address: it gets no more mail',
  description:
    'A send to a blocked address is still accepted; its delivery fails at once with the ' +
    'error code "suppressed".',
  examples: [
    ['Block an address by hand', 'svc blocks add ada@example.com'],
    ['Record a request to get no more mail', 'svc blocks add ada@example.com --reason unsubscribe'],
  ],
  args: { address: Args.string({ description: 'Address to block' }) },
  route: blockRoutes.create,
  card,
});
