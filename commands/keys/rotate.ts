import { showCommand } from '../base/verbs.ts';
import { args, shownOnce } from './show.ts';

export default showCommand({
  summary: 'Replace an API key by a new one with the same rights',
  description: 'The old key is refused from now on; the new one is shown only this once.',
  examples: [
    [
      'Pass the new key to a script',
      'svc keys rotate key_06dq2k0qz8h3v5m1r9t4w7xy --json | jq -r .key',
    ],
  ],
  args,
  route: async () => (await import('../../src/access/keys/routes.ts')).keyRoutes.rotate,
  ...shownOnce,
});
