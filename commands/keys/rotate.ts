import { Flags } from '@oclif/core';
import { keyRoutes } from '../../src/access/keys/routes.ts';
import { given } from '../base/input/body.ts';
import { secondsFrom } from '../base/input/since.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, shownOnce } from './show.ts';

export default updateCommand({
  summary: 'Replace an API key by a new one with the same rights',
  description:
    'The old key is refused from now on, or after --grace; the new one is shown only this ' +
    'once. With --grace both are valid meanwhile, so programs change keys without a gap.',
  examples: [
    [
      'Pass the new key to a script',
      'svc keys rotate key_06dq2k0qz8h3v5m1r9t4w7xy --json | jq -r .key',
    ],
    [
      'Replace a key and leave the old one valid for a day',
      'svc keys rotate key_06dq2k0qz8h3v5m1r9t4w7xy --grace 24h',
    ],
  ],
  args,
  names: { graceSeconds: null },
  flags: {
    grace: Flags.string({
      description: 'Time for which the old key stays valid: 90s, 10m, 24h or 7d',
      helpValue: 'TIME',
    }),
  },
  more: ({ grace }) => given({ graceSeconds: secondsFrom('--grace', grace as string | undefined) }),
  route: keyRoutes.rotate,
  ...shownOnce,
});
